import { isRemote } from '#core/definition/definition';
import type { Program } from '#core/definition/program';
import { secretPointers } from '#core/definition/secrets';

const known = new WeakMap<Program, { readonly ofOrder: readonly string[]; readonly anywhere: boolean }>();

/**
 * Returns pointers to the fields that a workflow marks secret in its order. `anywhere`: whether it marks any field, also in outputs,
 * signals or answers. Only orders of such a workflow have a key.
 */
export function markedIn(program: Program): { readonly ofOrder: readonly string[]; readonly anywhere: boolean } {
  const found = known.get(program) ?? marksOf(program);
  known.set(program, found);
  return found;
}

function marksOf({ definition, nodes }: Program) {
  const ofOrder = secretPointers(definition.order);
  const anywhere = [...nodes.values()].some((node) => {
    if (isRemote(node)) return (node.secretOutput ?? []).length > 0;
    if (node.activity === 'waitFor') return secretPointers(node.payload).length > 0;
    return node.activity === 'askOperator' && secretPointers(node.answer).length > 0;
  });
  return { ofOrder, anywhere: anywhere || ofOrder.length > 0 };
}
