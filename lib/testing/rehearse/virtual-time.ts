import { stepOf } from '#core/activities/index';
import { isCounted } from '#core/activities/step';
import type { EventContent } from '#core/data/event';
import type { State } from '#core/data/state';
import { nodeAt, type Program, wakeAtOf } from '#core/definition/program';
import { mostLate, workingSteps } from '#core/engine/lateness';
import { longWaitMs } from '#roles/scheduler/deadlines';

/** The next timer: a wake-up, or the deadline of a step. */
export interface Due {
  readonly at: number;
  /** The path of the late step. Undefined for a wake-up, and if the whole order expires (`recover: 'order'`). */
  readonly late?: string | undefined;
  /** Whether the supervisor counts a failure when the time comes. Otherwise the engine is only woken. */
  readonly counts: boolean;
}

/** The default of `MAX_FAILURES`: more expired deadlines than this block the order. */
const maxFailuresUsual = 3;

/**
 * Returns the next timer, by the rules of `lib/roles/scheduler/deadlines.ts`. With `recover: 'order'` the order expires as a whole. Its
 * reset voids the requests of all steps, so it waits until the latest deadline or wake-up has passed.
 */
export function nextDue(program: Program, state: State): Due | undefined {
  const working = workingSteps(program, state);
  const workingPaths = new Set(working.map(({ path }) => path));
  const others = Object.entries(state.activities).flatMap(([path, activity]): readonly Due[] => {
    const node = nodeAt(program, path);
    const { mode, completeBy } = stepOf(node, activity) ?? {};
    // In a rehearsal a called order always answers when it ends, so the request of a call is never repeated. Its one timer is the time limit
    // of the calling order, which the engine applies at `completeBy` of the request or later. An undo has a mode and other timers.
    if (node.activity === 'call' && mode === undefined)
      return state.endBy === undefined ? [] : [{ at: Math.max(completeBy ?? 0, state.endBy), counts: false }];
    const at = workingPaths.has(path) ? undefined : wakeAtOf(program, path, activity);
    return at === undefined ? [] : [{ at, counts: false }];
  });
  // In its long pause, or in the last attempt within its time limit, a step is woken and not counted.
  const late = working.map(
    ({ path, local, activity: { waitsUntil } }): Due =>
      waitsUntil === undefined && isCounted(local)
        ? { at: local.completeBy, late: path, counts: true }
        : { at: Math.min(waitsUntil ?? Infinity, local.limit ?? Infinity), counts: false },
  );
  const all = [...late, ...others];
  const steps = all.filter(({ counts }) => counts);
  const expiresAsWhole = program.definition.recover === 'order' && steps.length > 0;
  const expiries = expiresAsWhole ? [{ at: Math.max(...all.map(({ at }) => at)), counts: true }] : steps;
  const first = (dues: readonly Due[]) =>
    dues.reduce<Due | undefined>((least, due) => (least && least.at <= due.at ? least : due), undefined);
  return first([...all.filter(({ counts }) => !counts), ...expiries]);
}

/**
 * Turns an expired deadline into events, as the supervisor and the scheduler do. Each one counts. Up to `maxFailures`, the step or the order
 * is requested again. Above that number, the `onExhausted` of the workflow applies.
 */
export class Supervision {
  private readonly program: Program;
  /** The number of long pauses of steps with `onExhausted: 'wait'` since the last decision. Too many end the rehearsal. */
  longWaits = 0;

  constructor(program: Program) {
    this.program = program;
  }

  /** Returns the events of an expired deadline. `newClaim`: the order was reset, so they belong to a new claim with the next epoch. */
  expire({ late }: Due, state: State, at: number): { readonly events: readonly EventContent[]; readonly newClaim: boolean } {
    const { maxFailures = maxFailuresUsual, onExhausted = 'error', recover, longWaitSeconds } = this.program.definition;
    const place = late === undefined ? {} : { path: late };
    const counted = { type: 'counted', ...place } as const;
    const failures = 1 + (late === undefined ? mostLate(this.program, state) : (state.activities[late]?.late ?? 0));
    if (failures <= maxFailures) {
      const again = recover === 'order' ? ({ type: 'reclaimed' } as const) : ({ type: 'expired' } as const);
      return { events: [counted, again], newClaim: recover === 'order' };
    }
    if (onExhausted === 'wait') {
      this.longWaits += 1;
      const waitMs = longWaitSeconds === undefined ? longWaitMs : longWaitSeconds * 1000;
      return { events: [{ ...counted, waitsUntil: at + waitMs }, { type: 'expired' }], newClaim: false };
    }
    if (onExhausted === 'undo')
      return underSameClaim(counted, { type: 'canceled', outcome: 'compensated', ...(late === undefined ? {} : { late }) });
    if (onExhausted === 'fault' && late !== undefined) return underSameClaim(counted, { type: 'overdue', path: late });
    return underSameClaim(counted, { type: 'exhausted', ...place });
  }
}

const underSameClaim = (...events: readonly EventContent[]) => ({ events, newClaim: false });
