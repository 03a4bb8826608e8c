import { type Fault, shortType } from '#core/data/fault';
import { isRemote, type Template } from '#core/definition/definition';
import { parseExpression } from '#core/definition/expression';
import { definitionPath, expressionsIn, nodeAt, type Program } from '#core/definition/program';
import { masked, secretPointers, secretTexts, withoutTexts } from '#core/definition/secrets';
import type { UndoPlan } from '#core/views/undo-plan';
import type { FaultSummary } from '#ports/records';
import type { Loaded } from './types.ts';

/** Fields of the order and of what its steps answered that nobody may see, as texts: services like to quote what they were sent. */
export const secretsOf = ({ program, order, instance: { state } }: Loaded): readonly string[] => [
  ...secretTexts(order.body, secretPointers(program.definition.order)),
  ...Object.entries(state.outputs).flatMap(([path, output]) => secretTexts(output, secretOutputAt(program, path))),
  // What a step answered too late is kept nowhere but in what its undo is asked with.
  ...(state.undo ?? []).flatMap(({ path, input }) => (input === undefined ? [] : secretTexts(input, secretInputAt(program, path)))),
];

export const secretOutputAt = (program: Program, path: string): readonly string[] => {
  const node = nodeAt(program, path);
  // What a signal or a person brings along has a schema, which may mark what is secret.
  if (node.activity === 'waitFor') return secretPointers(node.payload);
  if (node.activity === 'askOperator') return secretPointers(node.answer);
  if (node.activity === 'forEach') return secretInputOf(program, node.collect ?? null).map((pointer) => `/*${pointer}`);
  return isRemote(node) ? (node.secretOutput ?? []) : [];
};

/** A plan as it may be shown: nothing in it repeats a secret of the order, or of what a step answered. */
export function redactedPlan(loaded: Loaded, plan: UndoPlan): UndoPlan {
  const texts = secretsOf(loaded);
  const steps = plan.steps.map(({ impossible, ...step }) => ({
    ...step,
    ...(impossible === undefined ? {} : { impossible: withoutTexts(impossible, texts) }),
    input: withoutTexts(masked(step.input, secretInputAt(loaded.program, step.path)), texts),
  }));
  return { ...plan, steps };
}

/** By program and path in it: it takes expressions apart, and is asked for at every transition. */
const secretInputs = new WeakMap<Program, Map<string, readonly string[]>>();

/** Pointers into the input of a step's undo that are made of what a step answered in secret: that answer is not kept. */
function secretInputAt(program: Program, path: string): readonly string[] {
  const known = secretInputs.get(program) ?? new Map<string, readonly string[]>();
  secretInputs.set(program, known);
  const at = definitionPath(path);
  const pointers = known.get(at) ?? secretInputOf(program, nodeAt(program, at).undo?.input ?? null);
  known.set(at, pointers);
  return pointers;
}

/** Pointers into an input that are made of what steps answered in secret. */
export function secretInputOf(program: Program, input: Template): readonly string[] {
  const secretOf = (name: string): readonly string[] =>
    [...program.nodes].flatMap(([at, node]) => (node.name === name ? secretOutputAt(program, at) : []));
  return [...expressionsIn(input)].flatMap(({ text, pointer }) => {
    const parsed = parseExpression(text);
    const names = parsed.ok ? parsed.expression.steps.map(({ name }) => name) : [];
    return names.some((name) => readsSecret(text, name, secretOf(name))) ? [pointer] : [];
  });
}

/** `steps.charge.chargeId` alone reads one field; anything else may read all of it. */
function readsSecret(text: string, name: string, pointers: readonly string[]): boolean {
  if (pointers.length === 0) return false;
  const before = `steps.${name}.`;
  const fields = text.trim();
  if (!fields.startsWith(before) || !/^[\w.]+$/.test(fields.slice(before.length))) return true;
  const read = `/${fields.slice(before.length).replaceAll('.', '/')}`;
  return pointers.some((pointer) => `${pointer}/`.startsWith(`${read}/`) || `${read}/`.startsWith(`${pointer}/`) || pointer.includes('*'));
}

/** What is shown of a fault; `fault` says nothing any more that is secret. */
export const summaryOf = ({ type, class: faultClass, message, permanent, source, data }: Fault): FaultSummary => ({
  type: shortType(type),
  class: faultClass,
  message,
  permanent,
  ...(source ? { source } : {}),
  ...(data === undefined ? {} : { data }),
});
