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
  /** The path of the late step. Undefined for a wake-up, and if the whole order is reclaimed. */
  readonly late?: string | undefined;
  readonly counts: boolean;
}

/** The default of `MAX_FAILURES`: more expired deadlines than this block the order. */
const maxFailuresUsual = 3;
/** Returns the next timer, by the rules of `lib/roles/scheduler/deadlines.ts`. */
export function nextDue(program: Program, state: State): Due | undefined {
  const working = workingSteps(program, state);
  const isWorking = new Set(working.map(({ path }) => path));
  const others = Object.entries(state.activities).flatMap(([path, alive]): readonly Due[] => {
    const node = nodeAt(program, path);
    const { mode, completeBy } = stepOf(node, alive) ?? {};
    // A called order answers when it ends, so only the time limit of the caller is a timer.
    if (node.activity === 'call' && mode === undefined)
      return state.endBy === undefined ? [] : [{ at: Math.max(completeBy ?? 0, state.endBy), counts: false }];
    const at = isWorking.has(path) ? undefined : wakeAtOf(program, path, alive);
    return at === undefined ? [] : [{ at, counts: false }];
  });
  const late = working.map(
    ({ path, local, activity: { waitsUntil } }): Due =>
      waitsUntil === undefined && isCounted(local)
        ? { at: local.completeBy, late: path, counts: true }
        : { at: Math.min(waitsUntil ?? Infinity, local.limit ?? Infinity), counts: false },
  );
  const all = [...late, ...others];
  const steps = all.filter(({ counts }) => counts);
  const whole = program.definition.recover === 'order' && steps.length > 0;
  const expiries = whole ? [{ at: Math.max(...all.map(({ at }) => at)), counts: true }] : steps;
  const first = (dues: readonly Due[]) =>
    dues.reduce<Due | undefined>((least, due) => (least && least.at <= due.at ? least : due), undefined);
  return first([...all.filter(({ counts }) => !counts), ...expiries]);
}

/**
 * Applies an expired deadline as the supervisor and the scheduler do: counts it, requests again, and follows the workflow above the limit.
 */
export class Supervision {
  private readonly program: Program;
  /** How many long waits there were above the failure limit. */
  longWaits = 0;

  constructor(program: Program) {
    this.program = program;
  }

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
    if (onExhausted === 'undo') return now(counted, { type: 'canceled', outcome: 'compensated', ...(late === undefined ? {} : { late }) });
    if (onExhausted === 'fault' && late !== undefined) return now(counted, { type: 'overdue', path: late });
    return now(counted, { type: 'exhausted', ...place });
  }
}

const now = (...events: readonly EventContent[]) => ({ events, newClaim: false });
