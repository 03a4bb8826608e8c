import type { StepState } from '#core/data/step-state';
import type { StateRecord } from '#ports/records';
import type { Tracked } from '#testing/world/history';
import { type Law, on } from './law.ts';

/** What an order does of itself. */
const begun: ReadonlySet<string> = new Set([
  'StepRequested',
  'ActivityStarted',
  'ActivityClosed',
  'OrderClaimed',
  'OrderBlocked',
  'OrderProcessed',
]);
const counted: ReadonlySet<string> = new Set(['DeadlineExpired', 'OrderReset', 'ThresholdExceeded']);

/** F-60: while an order is suspended nothing new is begun and nothing counts; what was left of its times is left when it is resumed. */
export function suspended(): Law {
  const since = new Map<string, { readonly at: number; readonly times: Setting }>();
  return {
    name: 'suspended',
    after: on(['written', 'restored'], (observation, history) => {
      if (observation.type === 'restored') {
        // The restored orders were suspended at other times than the ones noted here.
        since.clear();
        return undefined;
      }
      const { before, after } = observation;
      const order = history.orders.get(after.orderId);
      if (!before || !order) return undefined;
      const wrong = before.suspended && after.suspended ? wrongMeanwhile(before, after, order) : undefined;
      const stopped = since.get(after.orderId);
      if (!before.suspended && after.suspended) since.set(after.orderId, { at: after.updatedAt, times: timesIn(order) });
      if (after.suspended) return wrong && `${after.orderId} is suspended, and ${wrong}`;
      since.delete(after.orderId);
      const isResumed = order.news.some((fact) => fact.type === 'InstructionGiven' && fact.kind === 'resume');
      const lost = stopped && isResumed ? shortened(stopped, after, order) : undefined;
      return lost && `${after.orderId} is resumed, and ${lost}`;
    }),
    atEnd: (history) =>
      [...history.orders.values()].flatMap(({ orderId, state }) =>
        state.suspended && !history.waitsForPerson(orderId) ? [`${orderId} is suspended, and nobody is to see to it`] : [],
      ),
  };
}

function wrongMeanwhile(before: StateRecord, after: StateRecord, { news }: Tracked): string | undefined {
  const fact = news.find(({ type }) => begun.has(type));
  if (fact) return `its journal says ${fact.type}`;
  const note = after.notes.slice(before.notes.length).find(({ type }) => counted.has(type));
  if (note || after.failureCount !== before.failureCount) return `it counts ${note?.type ?? after.failureCount}`;
  if (after.processState !== before.processState && after.processState !== 'Error') return `it becomes ${after.processState}`;
  return undefined;
}

/** By path: until when it has time, and at what it is: what is answered meanwhile goes on to something else, with a time of its own. */
type Setting = ReadonlyMap<string, { readonly at: number; readonly does: string }>;

const timesIn = ({ instance }: Tracked): Setting =>
  new Map(
    Object.entries(instance.state.activities).flatMap(([path, { local: own }]) => {
      const { completeBy, until, phase, generation, attempt } = (own ?? {}) as Partial<
        Pick<StepState, 'completeBy' | 'phase' | 'generation' | 'attempt'>
      > & {
        until?: number;
      };
      const at = completeBy ?? until;
      return at === undefined ? [] : [[path, { at, does: `${phase} ${generation}.${attempt}` }] as const];
    }),
  );

/** What still goes on as it was has at least as much time from now on as it had then. */
function shortened(
  stopped: { readonly at: number; readonly times: Setting },
  { updatedAt }: StateRecord,
  order: Tracked,
): string | undefined {
  const lasted = Math.max(0, updatedAt - stopped.at);
  const now = timesIn(order);
  for (const [path, { at, does }] of stopped.times) {
    const own = now.get(path);
    if (own?.does === does && own.at < at + lasted) return `${path} has time until ${own.at} instead of ${at + lasted}`;
  }
  return undefined;
}
