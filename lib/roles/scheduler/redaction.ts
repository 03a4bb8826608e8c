import { outputOf } from '#core/data/child-order';
import { type Fault, shortType } from '#core/data/fault';
import { definitionPath } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import { isRemote, type Template } from '#core/definition/definition';
import { parseExpression } from '#core/definition/expression';
import { expressionsIn, inputOf, nodeAt, type Program } from '#core/definition/program';
import { withoutSealed } from '#core/definition/sealed';
import { masked, secretPointers, secretTexts, withoutTexts } from '#core/definition/secrets';
import type { UndoPlan } from '#core/views/undo-plan';
import { type FaultSummary, subjectOf } from '#ports/records';
import { withoutSecrets } from './replies.ts';
import type { Loaded } from './types.ts';

type Instantiated = Pick<Loaded, 'program' | 'order' | 'instance'>;

/** Returns the secret texts of the order's body and its outputs. Services often quote their input in error messages. */
export const secretsOf = ({ program, order, instance: { state } }: Instantiated): readonly string[] => [
  ...secretTexts(order.body, secretPointers(program.definition.order)),
  ...Object.entries(state.outputs).flatMap(([path, output]) => secretTexts(output, secretOutputAt(program, path))),
  // The output of a late reply is kept only in the input of its undo.
  ...(state.undo ?? []).flatMap(({ path, input }) => (input === undefined ? [] : secretTexts(input, secretUndoInputAt(program, path)))),
];

/** Returns the output of a completed order as its client sees it; undefined if the order has none. */
export function outputWithoutSecrets(loaded: Instantiated): Json | undefined {
  const output = outputOf(loaded.instance.state);
  return output === undefined ? undefined : withoutSealed(withoutTexts(output, secretsOf(loaded)));
}

export const secretOutputAt = (program: Program, path: string): readonly string[] => {
  const node = nodeAt(program, path);
  // The schema of a signal or of an operator's answer may mark secret fields.
  if (node.activity === 'waitFor') return secretPointers(node.payload);
  if (node.activity === 'askOperator') return secretPointers(node.answer);
  if (node.activity === 'forEach') return secretInputOf(program, node.collect ?? null).map((pointer) => `/*${pointer}`);
  return isRemote(node) ? (node.secretOutput ?? []) : [];
};

/** Removes secrets from a fact, because everyone who may read the order sees its journal. */
export function redactedFact(program: Program, fact: CoreFact, secrets: readonly string[]): CoreFact {
  if ('fault' in fact && fact.fault) return { ...fact, fault: withoutSecrets(fact.fault, secrets) };
  if ((fact.type !== 'ActivityClosed' && fact.type !== 'LateResult') || fact.output === undefined) return fact;
  const pointers = secretOutputAt(program, fact.path);
  const hidden = withoutTexts(masked(fact.output, pointers), [...secrets, ...secretTexts(fact.output, pointers)]);
  return { ...fact, output: withoutSealed(hidden) };
}

/** Returns an undo plan without the secrets of the order and of its outputs. */
export function redactedPlan(loaded: Loaded, plan: UndoPlan): UndoPlan {
  const texts = secretsOf(loaded);
  const steps = plan.steps.map(({ impossible, ...step }) => ({
    ...step,
    ...(impossible === undefined ? {} : { impossible: withoutTexts(impossible, texts) }),
    input: withoutSealed(withoutTexts(masked(step.input, secretUndoInputAt(loaded.program, step.path)), texts)),
  }));
  return { ...plan, steps };
}

/** Returns the input of the next request of a step, without secrets; undefined if it cannot be evaluated. */
export function redactedInput(loaded: Instantiated, path: string): Json | undefined {
  const { program, order, instance } = loaded;
  const node = nodeAt(program, path);
  const input = isRemote(node) ? inputOf(program, subjectOf(order), instance.state, path) : undefined;
  if (!input?.ok || !isRemote(node)) return undefined;
  return withoutSealed(withoutTexts(masked(input.value, secretInputOf(program, node.input ?? null)), secretsOf(loaded)));
}

/** Cache by program and path: every transition needs these pointers, and finding them parses expressions. */
const secretInputs = new WeakMap<Program, Map<string, readonly string[]>>();

/**
 * Returns pointers to the values in the input of a step's undo that come from secret outputs. The definition alone gives them, so they are
 * known also if the state has dropped the output.
 */
function secretUndoInputAt(program: Program, path: string): readonly string[] {
  const known = secretInputs.get(program) ?? new Map<string, readonly string[]>();
  secretInputs.set(program, known);
  const at = definitionPath(path);
  const pointers = known.get(at) ?? secretInputOf(program, nodeAt(program, at).undo?.input ?? null);
  known.set(at, pointers);
  return pointers;
}

/** Returns pointers into an input that come from secret outputs of steps. */
export function secretInputOf(program: Program, input: Template): readonly string[] {
  const secretOf = (name: string): readonly string[] =>
    [...program.nodes].flatMap(([at, node]) => (node.name === name ? secretOutputAt(program, at) : []));
  return [...expressionsIn(input)].flatMap(({ text, pointer }) => {
    const parsed = parseExpression(text);
    const names = parsed.ok ? parsed.expression.steps.map(({ name }) => name) : [];
    return names.some((name) => readsSecret(text, name, secretOf(name))) ? [pointer] : [];
  });
}

/** Whether an expression may read a secret. `steps.charge.chargeId` reads one field; any other form may read all fields. */
function readsSecret(text: string, name: string, pointers: readonly string[]): boolean {
  if (pointers.length === 0) return false;
  const before = `steps.${name}.`;
  const fields = text.trim();
  if (!fields.startsWith(before) || !/^[\w.]+$/.test(fields.slice(before.length))) return true;
  const read = `/${fields.slice(before.length).replaceAll('.', '/')}`;
  return pointers.some((pointer) => `${pointer}/`.startsWith(`${read}/`) || `${read}/`.startsWith(`${pointer}/`) || pointer.includes('*'));
}

/** Returns the parts of a fault that people see. Its secrets must have been removed before. */
export const summaryOf = ({ type, class: faultClass, message, permanent, source, data }: Fault): FaultSummary => ({
  type: shortType(type),
  class: faultClass,
  message,
  permanent,
  ...(source ? { source } : {}),
  ...(data === undefined ? {} : { data }),
});
