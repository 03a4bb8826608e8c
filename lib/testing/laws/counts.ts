import type { State } from '#core/data/state';
import type { Program } from '#core/definition/program';
import { workingSteps } from '#core/engine/lateness';
import type { Note, StateRecord } from '#ports/records';
import { decodeInstance } from '#roles/scheduler/instance';
import type { Tracked } from '#testing/world/history';
import { type Law, on } from './law.ts';

type Expiry = Extract<Note, { type: 'DeadlineExpired' | 'OrderReset' | 'ThresholdExceeded' }>;

/** F-53, F-176: each step has a count of its own, of the expiries that were counted since it was begun; with the step it is gone. */
export function counts(): Law {
  const tallies = new Map<string, Map<string, number>>();
  const lastRevs = new Map<string, number>();
  return {
    name: 'counts',
    after: on(['written'], ({ before, after }, history) => {
      const order = history.orders.get(after.orderId);
      const { program } = order ?? {};
      if (!order || !program) return undefined;
      if (!before) lastRevs.set(order.orderId, after.rev);
      if (!before) return undefined;
      const tally = tallies.get(order.orderId) ?? new Map<string, number>();
      tallies.set(order.orderId, tally);
      // What a table was put back to nobody wrote.
      if (lastRevs.get(order.orderId) !== before.rev) restored(before, program, tally);
      lastRevs.set(order.orderId, after.rev);
      if (before.blob !== after.blob) return countedOtherwise(order, program, tally);
      for (const note of after.notes.slice(before.notes.length).filter(isExpiry)) {
        const wrong = taken(note, program, order.instance.state, tally);
        if (wrong !== undefined) return `${order.orderId} ${wrong}`;
      }
      return undefined;
    }),
  };
}

const isExpiry = ({ type }: Note): boolean => type === 'DeadlineExpired' || type === 'OrderReset' || type === 'ThresholdExceeded';

/** Of a step that is named, and what was requested with it; or of all that are at work. */
function taken(note: Note, program: Program, state: State, tally: Map<string, number>): string | undefined {
  const { path, failureCount } = note as Expiry & { readonly path?: string };
  const steps = workingSteps(program, state);
  const named = steps.find((step) => step.path === path);
  const late = path === undefined ? steps : steps.filter(({ local: own }) => own.completeBy === named?.local.completeBy);
  for (const step of late) tally.set(step.path, (tally.get(step.path) ?? 0) + 1);
  const counted = Math.max(0, ...late.map((step) => tally.get(step.path) ?? 0));
  return counted === failureCount ? undefined : `counts ${failureCount} expiries of ${path ?? 'its steps'}, and there were ${counted}`;
}

/** It has the counts of the time from which it is. */
function restored(record: StateRecord, program: Program, tally: Map<string, number>): void {
  const { state } = decodeInstance(record);
  tally.clear();
  for (const { path, activity } of workingSteps(program, state)) if (activity.late) tally.set(path, activity.late);
  for (const note of record.notes.filter(isExpiry)) taken(note, program, state, tally);
}

/** What began again, or what a person decided on, has no count. */
function countedOtherwise({ orderId, state, instance, news }: Tracked, program: Program, tally: Map<string, number>): string | undefined {
  const isDecided = news.some((fact) => fact.type === 'InstanceRebuilt' || (fact.type === 'InstructionGiven' && !keeping.has(fact.kind)));
  const over = news.flatMap((fact) => (fact.type === 'ActivityClosed' || fact.type === 'RunFailed' ? [fact.path] : []));
  const steps = new Map(workingSteps(program, instance.state).map((step) => [step.path, step.activity.late ?? 0]));
  for (const path of tally.keys())
    if (isDecided || !steps.has(path) || over.some((each) => path === each || path.startsWith(`${each}/`))) tally.delete(path);
  for (const [path, late] of steps)
    if (late !== (tally.get(path) ?? 0))
      return `${orderId} has counted ${late} expiries of ${path}, and there were ${tally.get(path) ?? 0}`;
  const most = Math.max(0, ...steps.values());
  return state.failureCount === most
    ? undefined
    : `${orderId} shows ${state.failureCount} failures, and no step at work has more than ${most}`;
}

const keeping: ReadonlySet<string> = new Set(['suspend', 'resume']);
