import { limits } from '#core/definition/definition';
import type { History, Tracked } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { type Law, on } from './law.ts';

type Metered = Extract<Observation, { type: 'metered' }>;

/** The use of the store by one order. */
interface Usage {
  units: number;
  written: number;
  refused: number;
  throttled: number;
}

/** The most write units for each step of a loop without a limit of parallel steps, and for the rest of its order. */
const unitsMax = { each: 10, whole: 200 };
/** The most throttled writes for each step of a loop whose turns all run in parallel. */
const throttledMax = 7;
/** The most lost races for each accepted write. */
const refusedMax = 2;
/** The longest text with which an order must complete: a workflow of the tested worlds uses its text three times in one input. */
const charactersMax = limits.inputBytesMax / 3;
/** Facts that count a failure of a step. */
const failureFacts: ReadonlySet<string> = new Set(['DeadlineExpired', 'OrderReset', 'ThresholdExceeded']);

/**
 * If only the limits of the store are in effect, no step counts as failed (S15). Orders within the limits complete. Larger ones end by
 * their fault or go to an operator, without a repeated write (S23). Each step costs few write units.
 */
export function storeLimits(): Law {
  const usage = new Map<string, Usage>();
  /** Orders of which a write was too large. */
  const tooLarge = new Set<string>();
  /** Names of updates that were too large. */
  const tried = new Set<string>();
  /** Bodies of dead letters. */
  const deadLetters: string[] = [];
  const meter = ({ orderId, write, bytes, units, outcome }: Metered, { orders }: Pick<History, 'orders'>): string | undefined => {
    const name = `update of ${orderId}`;
    // After another write of its order, an update is computed again. If it is too large again, that is not a repetition.
    if (outcome === 'written' && orders.get(orderId)?.state.processState === 'Processing') tried.delete(name);
    if (outcome === 'too large') {
      tooLarge.add(orderId);
      if (tried.has(name)) return `order ${orderId}: a ${write} of ${bytes} bytes, too large for the store, was tried again`;
      tried.add(name);
      return undefined;
    }
    const known = usage.get(orderId) ?? { units: 0, written: 0, refused: 0, throttled: 0 };
    usage.set(orderId, known);
    if (outcome !== 'throttled') known.units += units;
    known[outcome] += 1;
    return undefined;
  };
  return {
    name: 'store limits',
    after: on(['metered', 'dead-lettered', 'faults begin'], (observation, history) => {
      if (observation.type === 'metered') return meter(observation, history);
      if (observation.type === 'dead-lettered') return void deadLetters.push(observation.message.body);
      if (usage.size === 0) return undefined;
      if (deadLetters.length > 0)
        return `a message became a dead letter although only the store had limits: ${deadLetters[0]?.slice(0, 200)}`;
      return [...history.orders.values()].map((order) => wrongOf(order, usage, tooLarge)).find((wrong) => wrong !== undefined);
    }),
  };
}

function wrongOf(order: Tracked, usage: ReadonlyMap<string, Usage>, tooLarge: ReadonlySet<string>): string | undefined {
  const { orderId, state, journal } = order;
  const { units = 0, written = 0, refused = 0, throttled = 0 } = usage.get(orderId) ?? {};
  const failed = [...journal, ...state.notes].find(({ type }) => failureFacts.has(type));
  if (failed) return `order ${orderId}: ${failed.type} was counted although only the store had limits`;
  const steps = journal.filter(({ type }) => type === 'StepRequested').length;
  if (state.workflow.name === 'wide' && units > unitsMax.whole + unitsMax.each * steps)
    return `order ${orderId} used ${units} write units for ${steps} steps`;
  if (throttled > throttledMax * steps) return `order ${orderId} was throttled ${throttled} times in ${steps} steps`;
  if (refused > refusedMax * written) return `order ${orderId} lost ${refused} races in ${written} writes`;
  const expected = expectedEnd(order, tooLarge);
  const end = state.outcome ?? `${state.processState} ${state.fault?.type}`;
  return end === expected ? undefined : `order ${orderId} (${state.workflow.name}) is ${end}, expected ${expected}`;
}

function expectedEnd({ orderId, state: { workflow }, journal }: Tracked, tooLarge: ReadonlySet<string>): string {
  if (tooLarge.has(orderId)) return 'Error InvariantViolated';
  return workflow.name === 'bulky' && charactersIn(journal) > charactersMax ? 'compensated' : 'completed';
}

/** Returns the length of the text in the output of the step `describe`; 0 if the order has no such output. */
function charactersIn(journal: Tracked['journal']): number {
  for (const fact of journal)
    if (fact.type === 'ActivityClosed' && fact.path.endsWith('/describe') && fact.output !== undefined)
      return (fact.output as { readonly text: string }).text.length;
  return 0;
}
