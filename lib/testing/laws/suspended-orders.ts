import type { StepState } from '#core/data/step-state';
import type { StateRecord } from '#ports/records';
import type { Tracked } from '#testing/world/history';
import { isSuspendedByRule } from './handled-exceptions.ts';
import { type Law, on } from './law.ts';

/** Facts that an order records only while it runs. */
const progress: ReadonlySet<string> = new Set([
  'StepRequested',
  'ActivityStarted',
  'ActivityClosed',
  'OrderClaimed',
  'OrderBlocked',
  'OrderProcessed',
]);
/** Notes that count a failure. */
const counted: ReadonlySet<string> = new Set(['DeadlineExpired', 'OrderReset', 'ThresholdExceeded']);

/** A suspended order begins nothing and counts no failure. When it is resumed, its remaining times are unchanged (F-60). */
export function suspendedOrders(): Law {
  /** Time of the suspension and the deadlines at that time, by order. */
  const since = new Map<string, { readonly at: number; readonly times: Deadlines }>();
  return {
    name: 'suspended orders',
    after: on(['written', 'restored'], (observation, history) => {
      if (observation.type === 'restored') {
        // The restored orders were suspended at other times than the ones noted here.
        since.clear();
        return undefined;
      }
      const { before, after } = observation;
      const order = history.orders.get(after.orderId);
      if (!before || !order) return undefined;
      const wrong = before.suspended && after.suspended ? wrongWhileSuspended(before, after, order) : undefined;
      const stopped = since.get(after.orderId);
      if (after.suspended && (!before.suspended || isSuspendedByRule(order.newFacts)))
        since.set(after.orderId, { at: after.updatedAt, times: deadlinesIn(order) });
      if (after.suspended) return wrong && `order ${after.orderId} is suspended, but ${wrong}`;
      since.delete(after.orderId);
      const isResumed = order.newFacts.some((fact) => fact.type === 'InstructionGiven' && fact.kind === 'resume');
      const lost = stopped && isResumed ? shortened(stopped, after, order) : undefined;
      return lost && `order ${after.orderId} was resumed, but ${lost}`;
    }),
    atEnd: (history) =>
      [...history.orders.values()].flatMap(({ orderId, state }) =>
        state.suspended && !history.waitsForPerson(orderId) ? [`order ${orderId} is suspended, but does not wait for an operator`] : [],
      ),
  };
}

function wrongWhileSuspended(before: StateRecord, after: StateRecord, { newFacts }: Tracked): string | undefined {
  // A person has resumed or canceled the order, and a rule has suspended it in the same write.
  if (isSuspendedByRule(newFacts)) return undefined;
  const fact = newFacts.find(({ type }) => progress.has(type));
  if (fact) return `its journal records ${fact.type}`;
  const note = after.notes.slice(before.notes.length).find(({ type }) => counted.has(type));
  if (note || after.failureCount !== before.failureCount) return `it counted ${note?.type ?? `${after.failureCount} failures`}`;
  if (after.processState !== before.processState && after.processState !== 'Error') return `it became ${after.processState}`;
  return undefined;
}

/** Deadline and current work of each activity, by path. A reply during the suspension changes the work and its deadline. */
type Deadlines = ReadonlyMap<string, { readonly at: number; readonly work: string }>;

const deadlinesIn = ({ instance }: Tracked): Deadlines =>
  new Map(
    Object.entries(instance.state.activities).flatMap(([path, { local }]) => {
      const { completeBy, until, phase, generation, attempt } = (local ?? {}) as Partial<
        Pick<StepState, 'completeBy' | 'phase' | 'generation' | 'attempt'>
      > & {
        until?: number;
      };
      const at = completeBy ?? until;
      return at === undefined ? [] : [[path, { at, work: `${phase} ${generation}.${attempt}` }] as const];
    }),
  );

/** Returns an activity with the same work but less time than at the suspension. */
function shortened(
  stopped: { readonly at: number; readonly times: Deadlines },
  { updatedAt }: StateRecord,
  order: Tracked,
): string | undefined {
  const lasted = Math.max(0, updatedAt - stopped.at);
  const now = deadlinesIn(order);
  for (const [path, { at, work }] of stopped.times) {
    const current = now.get(path);
    if (current?.work === work && current.at < at + lasted)
      return `the deadline of ${path} is ${current.at}, expected at least ${at + lasted}`;
  }
  return undefined;
}
