import type { StepState } from '../core/activities/step.ts';
import type { Event } from '../core/event.ts';
import { behaviourAt, nodeAt, type Program } from '../core/program.ts';
import type { State } from '../core/state.ts';
import { waitLongMs } from '../supervisor.ts';

/** What time brings next: a wake-up, or a step whose answer has not come. */
export interface Due {
  readonly at: number;
  /** Of the step that is late; none for a wake-up, and none where the order is taken up again as a whole. */
  readonly late?: string | undefined;
  readonly counts: boolean;
}

/** Expiries above this many put the order in Error, where the workflow says nothing else: as `MAX_FAILURES`. */
const maxFailuresUsual = 3;
/** The next moment at which anything happens that nobody answers: with the rules of `lib/deadlines.ts`. */
export function nextDue(program: Program, state: State): Due | undefined {
  const all = Object.entries(state.activities).flatMap(([path, { own }]): readonly Due[] => {
    const { activity } = nodeAt(program, path);
    const { mode, completeBy } = (own ?? {}) as Partial<StepState>;
    if (activity === 'step' && mode === undefined) return [{ at: completeBy ?? 0, late: path, counts: true }];
    // What is called answers by itself when it ends: only the order's own time is waited for.
    if (activity === 'call' && mode === undefined)
      return state.endBy === undefined ? [] : [{ at: Math.max(completeBy ?? 0, state.endBy), counts: false }];
    const at = behaviourAt(program, path).wakeAt?.(own);
    return at === undefined ? [] : [{ at, counts: false }];
  });
  const steps = all.filter(({ counts }) => counts);
  const whole = program.definition.recover === 'order' && steps.length > 0;
  const expiries = whole ? [{ at: Math.max(...all.map(({ at }) => at)), counts: true }] : steps;
  const first = (dues: readonly Due[]) =>
    dues.reduce<Due | undefined>((least, due) => (least && least.at <= due.at ? least : due), undefined);
  return first([...all.filter(({ counts }) => !counts), ...expiries]);
}

type Happening = Event extends infer E ? (E extends Event ? Omit<E, 'at' | 'epoch'> : never) : never;

/** What the supervisor and the scheduler make of an expiry: counted, asked again, and above the threshold as the workflow says. */
export class Supervision {
  private readonly program: Program;
  private failures = 0;
  /** Hours that it has waited above its threshold. */
  longWaits = 0;

  constructor(program: Program) {
    this.program = program;
  }

  expire({ late }: Due): { readonly event: Happening; readonly laterMs: number; readonly newClaim: boolean } {
    const { maxFailures = maxFailuresUsual, onExhausted = 'error', recover } = this.program.definition;
    const again = recover === 'order' ? ({ type: 'reclaimed' } as const) : ({ type: 'expired' } as const);
    this.failures += 1;
    if (this.failures <= maxFailures) return { event: again, laterMs: 0, newClaim: recover === 'order' };
    if (onExhausted === 'wait') {
      this.longWaits += 1;
      return { event: { type: 'expired' }, laterMs: waitLongMs, newClaim: false };
    }
    this.failures = 0;
    if (onExhausted === 'undo') return now({ type: 'cancelled', outcome: 'compensated' });
    if (onExhausted === 'fault' && late !== undefined) return now({ type: 'overdue', path: late });
    return now({ type: 'exhausted', ...(late === undefined ? {} : { path: late }) });
  }
}

const now = (event: Happening) => ({ event, laterMs: 0, newClaim: false });

export type { Happening };
