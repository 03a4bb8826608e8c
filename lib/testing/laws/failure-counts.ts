import type { State } from '#core/data/state';
import type { Program } from '#core/definition/program';
import { workingSteps } from '#core/engine/lateness';
import { ruleFaults } from '#core/rules/faults';
import type { Note, StateRecord } from '#ports/records';
import { decodeInstance } from '#roles/scheduler/instance';
import type { Tracked } from '#testing/world/history';
import { type Law, on } from './law.ts';

type Expiry = Extract<Note, { type: 'DeadlineExpired' | 'OrderReset' | 'ThresholdExceeded' }>;

/** Each step counts its own expired deadlines since it began. The count ends with the step (F-53, F-176). */
export function failureCounts(): Law {
  const tallies = new Map<string, Map<string, number>>();
  const lastRevs = new Map<string, number>();
  return {
    name: 'failure counts',
    after: on(['written'], ({ before, after }, history) => {
      const order = history.orders.get(after.orderId);
      const { program } = order ?? {};
      if (!order || !program) return undefined;
      if (!before) lastRevs.set(order.orderId, after.rev);
      if (!before) return undefined;
      const tally = tallies.get(order.orderId) ?? new Map<string, number>();
      tallies.set(order.orderId, tally);
      // If the revision before this write is unknown, a restore replaced the record.
      if (lastRevs.get(order.orderId) !== before.rev) takeCounts(before, program, tally);
      lastRevs.set(order.orderId, after.rev);
      if (before.blob !== after.blob) return wrongCount(order, program, tally);
      for (const note of after.notes.slice(before.notes.length).filter(isExpiry)) {
        const wrong = countExpiry(note, program, order.instance.state, tally);
        if (wrong !== undefined) return `order ${order.orderId} ${wrong}`;
      }
      return undefined;
    }),
  };
}

const isExpiry = ({ type }: Note): boolean => type === 'DeadlineExpired' || type === 'OrderReset' || type === 'ThresholdExceeded';

/** Counts an expiry for the named step and all with its deadline, or else for all running steps. Returns what is wrong with the note. */
function countExpiry(note: Note, program: Program, state: State, tally: Map<string, number>): string | undefined {
  const { path, failureCount } = note as Expiry & { readonly path?: string };
  const steps = workingSteps(program, state);
  const named = steps.find((step) => step.path === path);
  const late = path === undefined ? steps : steps.filter(({ local }) => local.completeBy === named?.local.completeBy);
  for (const step of late) tally.set(step.path, (tally.get(step.path) ?? 0) + 1);
  const counted = Math.max(0, ...late.map((step) => tally.get(step.path) ?? 0));
  return counted === failureCount ? undefined : `notes ${failureCount} expiries of ${path ?? 'its steps'}, expected ${counted}`;
}

/** Takes over the counts of a record that a restore brought back. */
function takeCounts(record: StateRecord, program: Program, tally: Map<string, number>): void {
  const { state } = decodeInstance(record);
  tally.clear();
  for (const { path, activity } of workingSteps(program, state)) if (activity.late) tally.set(path, activity.late);
  for (const note of record.notes.filter(isExpiry)) countExpiry(note, program, state, tally);
}

/**
 * Compares the counts in the state. A step that began again, or that an operator or a rule decided on, counts from zero. If the
 * exception is handed to a handler, a step that is still at work keeps its count.
 */
function wrongCount({ orderId, state, instance, newFacts }: Tracked, program: Program, tally: Map<string, number>): string | undefined {
  const isDecided = newFacts.some(
    (fact) =>
      fact.type === 'InstanceRebuilt' ||
      (fact.type === 'InstructionGiven' && !keepsCounts.has(fact.kind)) ||
      (fact.type === 'ExceptionHandled' && fact.handling.by === 'rule' && !isLeftToPerson(newFacts) && !isHandedOver(newFacts)),
  );
  const closed = newFacts.flatMap((fact) => (fact.type === 'ActivityClosed' || fact.type === 'RunFailed' ? [fact.path] : []));
  const steps = new Map(workingSteps(program, instance.state).map((step) => [step.path, step.activity.late ?? 0]));
  for (const path of tally.keys())
    if (isDecided || !steps.has(path) || closed.some((each) => path === each || path.startsWith(`${each}/`))) tally.delete(path);
  // Several rules may act in one write, so a count that the state has reset is accepted.
  if (newFacts.some(({ type }) => type === 'RuleActed')) for (const [path, late] of steps) if (late === 0) tally.delete(path);
  for (const [path, late] of steps)
    if (late !== (tally.get(path) ?? 0))
      return `order ${orderId} has ${late} expiries of ${path} in its state, expected ${tally.get(path) ?? 0}`;
  const most = Math.max(0, ...steps.values());
  return state.failureCount === most
    ? undefined
    : `order ${orderId} has failureCount ${state.failureCount}, but the largest count of a running step is ${most}`;
}

/** Whether a rule has left the decision to a person, or has failed to carry out its action. */
const isLeftToPerson = (facts: Tracked['newFacts']): boolean =>
  facts.some(
    (fact) =>
      (fact.type === 'RuleActed' && fact.action.kind === 'raise' && fact.action.toPerson) ||
      (fact.type === 'OrderBlocked' && fact.fault.type === ruleFaults.failed),
  );

const isHandedOver = (facts: Tracked['newFacts']): boolean => facts.some(({ type }) => type === 'HandlerStarted');

/** Instructions that leave the counts unchanged. */
export const keepsCounts: ReadonlySet<string> = new Set(['suspend', 'resume', 'amend', 'acknowledge']);
