import type { Json } from '#core/data/json';
import type { CheckView } from './check-text.ts';
import { changedPlaces } from './input-places.ts';
import type { GivenInstruction } from './instruction.ts';
import { meantStep, type OrderView } from './orders.ts';

/** Kinds after which an order goes on from where it stands. */
const continuingKinds: ReadonlySet<string> = new Set(['resubmit', 'replace-input', 'skip']);

/** Returns the facts about the order that its check does not say: what another input changes, and the steps that stay done. */
export function notesOn(instruction: GivenInstruction, check: CheckView, order: OrderView | undefined): readonly string[] {
  if (!order) return [];
  const later = check.effects.marks.length > 0 && order.suspended ? ['The undo goes on when somebody resumes the order.'] : [];
  return [...later, ...inputChanges(instruction, order), ...(continuingKinds.has(instruction.kind) ? finishedSteps(check, order) : [])];
}

/** Returns what another input changes, place by place. */
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
