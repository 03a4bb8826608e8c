import { stepOfUndo } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { AboutCheck, CheckView } from './check-text.ts';
import { changedPlaces } from './input-places.ts';
import type { GivenInstruction } from './instruction.ts';
import { meantStep, type OrderView } from './orders.ts';

/** Kinds after which an order goes on from where it stands. */
const goesOn: ReadonlySet<string> = new Set(['resubmit', 'replace-input', 'skip']);

/** Returns what the order adds to the check of an instruction: the step that is marked, and the steps that stay done. */
export function aboutCheck(instruction: GivenInstruction, check: CheckView, order: OrderView | undefined): AboutCheck {
  if (!order) return {};
  const marked = markedBy(instruction, order);
  const later = marked !== undefined && order.suspended ? ['The undo goes on when somebody resumes the order.'] : [];
  return {
    marked,
    notes: [...later, ...inputChanges(instruction, order), ...(goesOn.has(instruction.kind) ? staysDone(check, order) : [])],
  };
}

/** Returns the step that a mark is about: without a path, the only one whose undo is stuck. */
function markedBy({ kind, path }: GivenInstruction, { undo }: OrderView): string | undefined {
  if (kind !== 'mark-compensated' || !undo) return undefined;
  return typeof path === 'string' ? stepOfUndo(path) : undo.stuck[0]?.path;
}

/** Returns what another input changes, place by place. */
function inputChanges({ kind, path, input }: GivenInstruction, order: OrderView): readonly string[] {
  if (kind !== 'replace-input') return [];
  const step = meantStep(order, path);
  if (!step || step.input === undefined) return [];
  const places = changedPlaces(step.input as Json, input as Json);
  return places.length === 0 ? ['The input would be the same as before.'] : places.map((each) => `Input of ${step.path}: ${each}.`);
}

function staysDone({ effects, then }: CheckView, { steps = [] }: OrderView): readonly string[] {
  const touched = new Set([...effects.requests, ...effects.undoes, ...then].map(({ path }) => path));
  const done = steps.flatMap(({ path, agent, result }) => (path && agent && result === 'Succeeded' && !touched.has(path) ? [path] : []));
  return done.length === 0 ? [] : [`Not done again: ${done.join(', ')}.`];
}
