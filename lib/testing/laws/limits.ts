import { limits as least } from '#core/definition/definition';
import type { History, Tracked } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { type Law, on } from './law.ts';

type Metered = Extract<Observation, { type: 'metered' }>;

/** What one order has cost a store with limits. */
interface Spent {
  units: number;
  written: number;
  refused: number;
  throttled: number;
}

/** Write units for one step of a loop that says nothing of how many are at work, at the most; and a few more for its order. */
const unitsMax = { each: 10, whole: 200 };
/** Writes that its partition does not take just now, for one step of a loop whose turns are all at work at once. */
const throttledMax = 7;
/** Of its writes so many may lose their race for each that wins. */
const refusedMax = 2;
/** Texts three times as long as that are no input any more. */
const charactersMax = least.inputBytesMax / 3;
const late: ReadonlySet<string> = new Set(['DeadlineExpired', 'OrderReset', 'ThresholdExceeded']);

/**
 * S15, S23: where only the store's limits are in the way, no step counts as failed, what fits is done, what does not fit ends by its
 * fault or before a person, and nobody writes the same again that the store never takes. A step of a wide order costs little.
 */
export function limits(): Law {
  const spent = new Map<string, Spent>();
  /** Orders of which a write was too large. */
  const tooLarge = new Set<string>();
  const tried = new Set<string>();
  const asides: string[] = [];
  const meter = ({ orderId, write, bytes, units, outcome }: Metered, { orders }: Pick<History, 'orders'>): string | undefined => {
    const name = `update of ${orderId}`;
    // Another write came between: what follows from the same message is computed again, and refused again.
    if (outcome === 'written' && orders.get(orderId)?.state.processState === 'Processing') tried.delete(name);
    if (outcome === 'too large') {
      tooLarge.add(orderId);
      if (tried.has(name)) return `${write} of ${orderId}, ${bytes} bytes, is tried again, and the store never takes it`;
      tried.add(name);
      return undefined;
    }
    const known = spent.get(orderId) ?? { units: 0, written: 0, refused: 0, throttled: 0 };
    spent.set(orderId, known);
    if (outcome !== 'throttled') known.units += units;
    known[outcome] += 1;
    return undefined;
  };
  return {
    name: 'limits',
    after: on(['metered', 'dead-lettered', 'faults begin'], (observation, history) => {
      if (observation.type === 'metered') return meter(observation, history);
      if (observation.type === 'dead-lettered') return void asides.push(observation.message.body);
      if (spent.size === 0) return undefined;
      if (asides.length > 0) return `nothing but the store was in the way, and dead-lettered is ${asides[0]?.slice(0, 200)}`;
      return [...history.orders.values()].map((order) => wrongOf(order, spent, tooLarge)).find((wrong) => wrong !== undefined);
    }),
  };
}

function wrongOf(order: Tracked, spent: ReadonlyMap<string, Spent>, tooLarge: ReadonlySet<string>): string | undefined {
  const { orderId, state, journal } = order;
  const { units = 0, written = 0, refused = 0, throttled = 0 } = spent.get(orderId) ?? {};
  const failed = [...journal, ...state.notes].find(({ type }) => late.has(type));
  if (failed) return `${orderId}: ${failed.type}, and nothing but the store was in its way`;
  const steps = journal.filter(({ type }) => type === 'StepRequested').length;
  if (state.workflow.name === 'wide' && units > unitsMax.whole + unitsMax.each * steps)
    return `${orderId} has cost ${units} write units for ${steps} steps`;
  if (throttled > throttledMax * steps) return `${orderId} has met its partition's limit ${throttled} times in ${steps} steps`;
  if (refused > refusedMax * written) return `${orderId} was written ${written} times, and lost ${refused} races`;
  const wanted = wantedOf(order, tooLarge);
  const end = state.outcome ?? `${state.processState} ${state.fault?.type}`;
  return end === wanted ? undefined : `${orderId}, ${state.workflow.name}, is ${end} instead of ${wanted}`;
}

function wantedOf({ orderId, state: { workflow }, journal }: Tracked, tooLarge: ReadonlySet<string>): string {
  if (tooLarge.has(orderId)) return 'Error InvariantViolated';
  return workflow.name === 'bulky' && charactersIn(journal) > charactersMax ? 'compensated' : 'completed';
}

/** The length of the text that its first step has answered with. */
function charactersIn(journal: Tracked['journal']): number {
  for (const fact of journal)
    if (fact.type === 'ActivityClosed' && fact.path.endsWith('/describe') && fact.output !== undefined)
      return (fact.output as { readonly text: string }).text.length;
  return 0;
}
