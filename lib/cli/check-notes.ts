import type { Json } from '#core/data/json';
import type { CheckView } from './check-text.ts';
import { changedPlaces } from './input-places.ts';
import type { GivenInstruction } from './instruction.ts';
import { meantStep, type OrderView } from './orders.ts';

/** Kinds of instructions after which an order continues at its present step. */
const continuingKinds: ReadonlySet<string> = new Set(['resubmit', 'replace-input', 'skip']);

/** Returns facts that the check of an instruction does not say: the places that a new input changes, and the steps that stay done. */
export function notesOn(instruction: GivenInstruction, check: CheckView, order: OrderView | undefined): readonly string[] {
  if (!order) return [];
  const later = check.effects.marks.length > 0 && order.suspended ? ['The undo goes on when somebody resumes the order.'] : [];
  return [...later, ...inputChanges(instruction, order), ...(continuingKinds.has(instruction.kind) ? finishedSteps(check, order) : [])];
}

/** Returns one line for each place at which the new input of `replace-input` differs from the present one. */
function inputChanges({ kind, path, input }: GivenInstruction, order: OrderView): readonly string[] {
  if (kind !== 'replace-input') return [];
  const step = meantStep(order, path);
  if (!step || step.input === undefined) return [];
  const places = changedPlaces(step.input as Json, input as Json);
  return places.length === 0 ? ['The input would be the same as before.'] : places.map((each) => `Input of ${step.path}: ${each}.`);
}

function finishedSteps({ effects, then }: CheckView, { steps = [] }: OrderView): readonly string[] {
  const touched = new Set([...effects.requests, ...effects.undoes, ...then].map(({ path }) => path));
  const done = steps.flatMap(({ path, agent, result }) => (path && agent && result === 'Succeeded' && !touched.has(path) ? [path] : []));
  return done.length === 0 ? [] : [`Not done again: ${done.join(', ')}.`];
}
