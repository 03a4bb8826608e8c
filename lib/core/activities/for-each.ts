import { type Behaviour, type Context, close, type Next, raise, succeeded, wait } from '../behaviour.ts';
import { type Condition, conditionOf } from '../condition.ts';
import type { Activity, ActivityBase, Template } from '../definition.ts';
import { limits } from '../definition.ts';
import { engineFault, engineFaults, type Fault } from '../fault.ts';
import type { Json } from '../json.ts';
import { mayChange } from '../template.ts';

export interface ForEach extends ActivityBase {
  readonly activity: 'forEach';
  /** Yields a list; each entry is `each.<name>.item`, its position `each.<name>.index`. */
  readonly list: Template;
  readonly do: Activity;
  /** Branches at work at the same time: 1 is one after the other; without it `limits.concurrencyDefault`. */
  readonly maxConcurrency?: number;
  /** Evaluated as each branch closes; once it holds, the others are cancelled (WF: UntilCondition). */
  readonly until?: Template;
}

export interface ForEachState {
  readonly count: number;
  /** The next item to begin. */
  readonly next: number;
  readonly open: number;
  /** The entries, where reading them anew could yield others: variables may change while the loop runs. */
  readonly entries?: readonly Json[];
  /** Since then it waits to be woken, to begin the next portion of its turns. */
  readonly rests?: number;
  /** Enough has been done: what is still open is being cancelled. */
  readonly stopped?: true;
  /** Whether enough has been done could not be said: it is asked once more when the order goes on. */
  readonly undecided?: true;
}

/** Runs its activity once for each entry of a list (WF: Replicator). */
export const forEach: Behaviour<ForEach, ForEachState> = {
  children: (loop) => [loop.do],
  repeats: true,
  problems: ({ maxConcurrency }) =>
    maxConcurrency === undefined || (Number.isSafeInteger(maxConcurrency) && maxConcurrency >= 1)
      ? []
      : [`maxConcurrency is ${maxConcurrency}; it is a whole number from 1 up.`],
  templates: ({ list, until }) => [list, ...(until === undefined ? [] : [until])],

  execute(loop, context) {
    const list = context.evaluate(loop.list);
    if (!list.ok) return raise(list.fault);
    if (!Array.isArray(list.value)) return raise(noList(list.value));
    if (list.value.length > limits.itemsMax) return raise(tooMany(list.value.length));

    const entries = mayChange(loop.list) ? { entries: list.value } : {};
    return goOn(loop, { count: list.value.length, next: 0, open: 0, ...entries }, context);
  },

  childClosed(loop, state, _, context) {
    const left = { ...state, open: state.open - 1 };
    if (state.stopped) return left.open === 0 ? close(succeeded()) : wait(left);

    return state.undecided ? wait(left) : decide(loop, left, context);
  },
  repeat: (loop, state, context) => decide(loop, state, context),
  woken: (loop, state, context) => (state.rests === undefined ? undefined : goOn(loop, state, context)),
  wakeAt: ({ rests }) => rests,
};

function decide(loop: ForEach, { undecided: _, rests: __, ...state }: ForEachState, context: Context): Next<ForEachState> {
  const { count, open } = state;
  const enough: Condition = loop.until === undefined ? { ok: true, holds: false } : conditionOf(loop.until, context);
  if (!enough.ok) return raise(enough.fault, { ...state, undecided: true });
  if (!enough.holds) return goOn(loop, state, context);

  return open === 0 ? close(succeeded()) : { state: { ...state, next: count, stopped: true }, cancelChildren: true };
}

function goOn(loop: ForEach, { rests: _, ...state }: ForEachState, { portion, at }: Context): Next<ForEachState> {
  const { count, next, open } = state;
  if (open === 0 && next === count) return close(succeeded());
  const wanted = Math.max(0, Math.min(count - next, (loop.maxConcurrency ?? limits.concurrencyDefault) - open));
  const length = Math.min(wanted, portion);
  const run = Array.from({ length }, (_, offset) => ({ name: loop.do.name, index: next + offset }));
  return { state: { ...state, next: next + length, open: open + length, ...(length < wanted ? { rests: at } : {}) }, run };
}

const noList = (value: unknown): Fault =>
  engineFault(engineFaults.expressionFailed, `A forEach goes through a list, not ${JSON.stringify(value)?.slice(0, 100)}.`);
const tooMany = (length: number): Fault =>
  engineFault(
    engineFaults.tooManyItems,
    `The list has ${length} entries; one forEach goes through at most ${limits.itemsMax}. Cut it into chunks, each an order of its own.`,
  );
