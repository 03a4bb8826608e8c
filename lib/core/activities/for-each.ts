import { engineFault, engineFaults, type Fault } from '#core/data/fault';
import type { Json } from '#core/data/json';
import { type Condition, conditionOf } from '#core/definition/condition';
import type { Activity, ActivityBase, Template } from '#core/definition/definition';
import { limits } from '#core/definition/definition';
import { mayChange } from '#core/definition/template';
import { type Behavior, type Context, close, type Evaluated, type Next, raise, succeeded, wait } from '#core/engine/behavior';

export interface ForEach extends ActivityBase {
  readonly activity: 'forEach';
  /** Yields a list; each entry is `each.<name>.item`, its position `each.<name>.index`. */
  readonly list: Template;
  readonly do: Activity;
  /** Branches at work at the same time: 1 is one after the other; without it `limits.concurrencyDefault`. */
  readonly maxConcurrency?: number;
  /** Evaluated as each branch closes; once it holds, the others are canceled (WF: UntilCondition). */
  readonly until?: Template;
  /** Evaluated as each turn closes with success; read later, as a list in the order of the entries. */
  readonly collect?: Template;
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
  /** Entries of the turns that have succeeded, each with the number of its turn. */
  readonly collected?: readonly (readonly [turn: number, value: Json])[];
  /** The entry of a turn could not be evaluated, or did not fit into the state. */
  readonly lost?: Fault;
  /** Enough has been done: what is still open is being canceled. */
  readonly stopped?: true;
  /** Whether enough has been done could not be said: it is asked once more when the order goes on. */
  readonly undecided?: true;
}

/** Runs its activity once for each entry of a list (WF: Replicator). */
export const forEach: Behavior<ForEach, ForEachState> = {
  children: (loop) => [loop.do],
  repeats: true,
  problems: ({ maxConcurrency }) =>
    maxConcurrency === undefined || (Number.isSafeInteger(maxConcurrency) && maxConcurrency >= 1)
      ? []
      : [`maxConcurrency is ${maxConcurrency}; it is a whole number from 1 up.`],
  answers: ({ collect }) => collect !== undefined,
  templates: (loop) => [loop.list, ...templatesInTurn(loop)],

  execute(loop, context) {
    const list = context.evaluate(loop.list);
    if (!list.ok) return raise(list.fault);
    if (!Array.isArray(list.value)) return raise(noList(list.value));
    if (list.value.length > limits.itemsMax) return raise(tooMany(list.value.length));

    const entries = mayChange(loop.list) ? { entries: list.value } : {};
    return goOn(loop, { count: list.value.length, next: 0, open: 0, ...entries }, context);
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
  woken: (loop, state, context) => (state.rests === undefined ? undefined : goOn(loop, state, context)),
  wakeAt: ({ rests }) => rests,
};

/** Expressions evaluated as a turn closes; they may read the outputs of the turn's steps. */
export const templatesInTurn = ({ until, collect }: ForEach): readonly Template[] =>
  [until, collect].flatMap((template) => (template === undefined ? [] : [template]));

const collectedIn = ({ collect }: ForEach, { evaluate }: Context): Evaluated | undefined =>
  collect === undefined ? undefined : evaluate(collect);

function turnClosed(loop: ForEach, state: ForEachState, context: Context): Next<ForEachState> {
  if (state.stopped) return state.open === 0 ? closed(loop, state) : wait(state);

  return state.undecided || state.lost ? wait(state) : decide(loop, state, context);
}

/** In the order of the entries, however the turns came to their ends. */
function closed({ collect }: ForEach, { collected = [] }: ForEachState): Next<ForEachState> {
  if (collect === undefined) return close(succeeded());
  const inOrder = collected.toSorted(([one], [other]) => one - other);
  return close({ result: 'Succeeded', collected: inOrder.map(([, value]) => value) });
}

function decide(loop: ForEach, { undecided: _, rests: __, ...state }: ForEachState, context: Context): Next<ForEachState> {
  const { count, open } = state;
  const enough: Condition = loop.until === undefined ? { ok: true, holds: false } : conditionOf(loop.until, context);
  if (!enough.ok) return raise(enough.fault, { ...state, undecided: true });
  if (!enough.holds) return goOn(loop, state, context);

  return open === 0 ? closed(loop, state) : { state: { ...state, next: count, stopped: true }, cancelChildren: true };
}

function goOn(loop: ForEach, { rests: _, ...state }: ForEachState, { portion, at }: Context): Next<ForEachState> {
  const { count, next, open } = state;
  if (open === 0 && next === count) return closed(loop, state);
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
