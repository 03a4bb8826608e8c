import type { StateRecord } from '#ports/records';
import { differenceBetween } from '#roles/repair/compare';
import { folded } from '#roles/repair/fold';
import type { Tracked } from '#testing/world/history';
import { type Law, on } from './law.ts';

/** The journal of each order keeps every event, so that its instance can be rebuilt from it after any write (F-160). */
export function recordedEvents(): Law {
  return {
    name: 'recorded events',
    after: on(['written'], ({ before, after }, history) => {
      const order = history.orders.get(after.orderId);
      if (!order || before?.blob === after.blob || (after.rev % checkedEach !== 0 && !isAtRest(after))) return undefined;
      const wrong = wrongIn(order);
      return wrong === undefined ? undefined : `order ${after.orderId} at rev ${after.rev}: ${wrong}`;
    }),
  };
}

/** The law checks each fourth revision, and orders at rest. It does not check every write, because a check reads the whole journal. */
const checkedEach = 4;
const isAtRest = ({ processState }: StateRecord): boolean => processState === 'Processed' || processState === 'Error';

function wrongIn({ order, program, state: record, instance, journal }: Tracked): string | undefined {
  if (!order || !program) return undefined;
  const result = folded({ program, order, record }, journal);
  if (!result.ok) return `it cannot be rebuilt. ${result.reason}`;
  const difference = differenceBetween(instance, result.instance);
  if (!difference) return undefined;
  const { field, stored, rebuilt } = difference;
  return `the rebuilt ${field} is ${JSON.stringify(rebuilt)}, expected ${JSON.stringify(stored)}`;
}
