import { engineFault, engineFaults, type Fault } from '#core/data/fault';
import type { Json } from '#core/data/json';
import { type Condition, conditionOf } from '#core/definition/condition';
import type { Activity, ActivityBase, Template } from '#core/definition/definition';
import { limits } from '#core/definition/definition';
import { mayChange } from '#core/definition/template';
import { type Behavior, type Context, close, type Evaluated, type Next, raise, run, succeeded, wait } from '#core/engine/behavior';

export interface ForEach extends ActivityBase {
  readonly activity: 'forEach';
  /** A list. Expressions read each entry as `each.<name>.item` and its position as `each.<name>.index`. */
  readonly list: Template;
  readonly do: Activity;
  /** The number of turns at work at the same time; 1 runs them one after the other. Default: `limits.concurrencyDefault`. */
  readonly maxConcurrency?: number;
  /**
   * The condition that is evaluated when a turn closes. As soon as it holds, the open turns are canceled and no other turn starts (WF:
   * UntilCondition).
   */
  readonly until?: Template;
  /** The value that is evaluated when a turn succeeds. Expressions read the values later as a list, in the order of the entries. */
  readonly collect?: Template;
}

export interface ForEachState {
  readonly count: number;
  /** The number of the next turn to start: the position of its entry. */
  readonly next: number;
  readonly open: number;
  /** The entries, if a second evaluation of the list could differ: variables may change while the loop runs. */
  readonly entries?: readonly Json[];
  /**
   * The time at which the loop paused (milliseconds since 1970): one event starts at most `limits.portionMax` activities. A wake-up starts
   * the rest.
   */
  readonly rests?: number;
  /** The collected values of succeeded turns, each with the number of its turn. */
  readonly collected?: readonly (readonly [turn: number, value: Json])[];
  /** The fault because a value to collect could not be evaluated, or did not fit into the state. */
  readonly lost?: Fault;
  /** `until` holds, and the open turns are being canceled. */
  readonly stopped?: true;
  /** `until` could not be evaluated. It is evaluated again when the order continues. */
  readonly undecided?: true;
}

/** Runs its activity once for each entry of a list (WF: Replicator). */
export const forEach: Behavior<ForEach, ForEachState> = {
  children: (loop) => [loop.do],
  repeats: true,
  problems: ({ maxConcurrency }) =>
    maxConcurrency === undefined || (Number.isSafeInteger(maxConcurrency) && maxConcurrency >= 1)
      ? []
      : [`maxConcurrency is ${maxConcurrency}; it must be an integer of at least 1.`],
  answers: ({ collect }) => collect !== undefined,
  templates: (loop) => [loop.list, ...templatesInTurn(loop)],

  execute(loop, context) {
    const list = context.evaluate(loop.list);
    if (!list.ok) return raise(list.fault);
    if (!Array.isArray(list.value)) return raise(notAList(list.value));
    if (list.value.length > limits.itemsMax) return raise(tooMany(list.value.length));

    const entries = mayChange(loop.list) ? { entries: list.value } : {};
    return startTurns(loop, { count: list.value.length, next: 0, open: 0, ...entries }, context);
  },

  childClosed(loop, state, closing, context) {
    const left = { ...state, open: state.open - 1 };
    const collected = closing.result === 'Succeeded' ? collectedIn(loop, context) : undefined;
    if (!collected) return turnClosed(loop, left, context);
    const otherwise = (fault: Fault) => ({ ...left, lost: fault });
    if (!collected.ok) return raise(collected.fault, otherwise(collected.fault));

    const { value } = collected;
    const all = [...(state.collected ?? []), [context.turn ?? 0, value] as const];
    return { ...turnClosed(loop, { ...left, collected: all }, context), collects: { value, otherwise } };
  },
  repeat: (loop, state, context) => (state.lost ? raise(state.lost) : decide(loop, state, context)),
  woken: (loop, state, context) => (state.rests === undefined ? undefined : startTurns(loop, state, context)),
  wakeAt: ({ rests }) => rests,
};

/** Returns the expressions that are evaluated when a turn closes. They may read the outputs of the steps in that turn. */
export const templatesInTurn = ({ until, collect }: ForEach): readonly Template[] =>
  [until, collect].flatMap((template) => (template === undefined ? [] : [template]));

const collectedIn = ({ collect }: ForEach, { evaluate }: Context): Evaluated | undefined =>
  collect === undefined ? undefined : evaluate(collect);

function turnClosed(loop: ForEach, state: ForEachState, context: Context): Next<ForEachState> {
  if (state.stopped) return state.open === 0 ? closed(loop, state) : wait(state);

  return state.undecided || state.lost ? wait(state) : decide(loop, state, context);
}

/** Closes with the collected values in the order of the entries, whatever the order in which the turns closed. */
function closed({ collect }: ForEach, { collected = [] }: ForEachState): Next<ForEachState> {
  if (collect === undefined) return close(succeeded());
  const inOrder = collected.toSorted(([one], [other]) => one - other);
  return close({ result: 'Succeeded', collected: inOrder.map(([, value]) => value) });
}

function decide(loop: ForEach, { undecided: _, rests: __, ...state }: ForEachState, context: Context): Next<ForEachState> {
  const { count, open } = state;
  const isEnough: Condition = loop.until === undefined ? { ok: true, holds: false } : conditionOf(loop.until, context);
  if (!isEnough.ok) return raise(isEnough.fault, { ...state, undecided: true });
  if (!isEnough.holds) return startTurns(loop, state, context);

  return open === 0 ? closed(loop, state) : { verb: 'cancelChildren', state: { ...state, next: count, stopped: true } };
}

function startTurns(loop: ForEach, { rests: _, ...state }: ForEachState, { portion, at }: Context): Next<ForEachState> {
  const { count, next, open } = state;
  if (open === 0 && next === count) return closed(loop, state);
  const wanted = Math.max(0, Math.min(count - next, (loop.maxConcurrency ?? limits.concurrencyDefault) - open));
  const length = Math.min(wanted, portion);
  const turns = Array.from({ length }, (_, offset) => ({ name: loop.do.name, index: next + offset }));
  return run(turns, { ...state, next: next + length, open: open + length, ...(length < wanted ? { rests: at } : {}) });
}

const notAList = (value: unknown): Fault =>
  engineFault(engineFaults.expressionFailed, `A forEach needs a list, not ${JSON.stringify(value)?.slice(0, 100)}.`);
const tooMany = (length: number): Fault =>
  engineFault(
    engineFaults.tooManyItems,
    `The list has ${length} entries; a forEach has at most ${limits.itemsMax}. Split the list into chunks, each in a called order.`,
  );
