import { isDeepStrictEqual } from 'node:util';
import type { State } from '#core/data/state';
import type { StateRecord } from '#ports/records';
import { folded } from '#roles/repair/fold';
import type { Instance } from '#roles/scheduler/instance';
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

/** A fold reads the whole journal, so that not every write is checked. */
const checkedEach = 4;
const isAtRest = ({ processState }: StateRecord): boolean => processState === 'Processed' || processState === 'Error';

function wrongIn({ order, program, state: record, instance, journal }: Tracked): string | undefined {
  if (!order || !program) return undefined;
  const result = folded({ program, order, record }, journal);
  if (!result.ok) return `it cannot be rebuilt. ${result.reason}`;
  const [expected, found] = [comparable(instance), comparable(result.instance)];
  // If all entries lie in pages, the stored state does not name the newest.
  if (expected['newest'] === undefined && expected['entries'] === found['entries']) delete found['newest'];
  const field = Object.keys({ ...expected, ...found }).find((name) => !isDeepStrictEqual(expected[name], found[name]));
  return field && `the rebuilt ${field} is ${JSON.stringify(found[field])}, expected ${JSON.stringify(expected[field])}`;
}

/** Returns the parts of an instance that a rebuild restores. Where undo entries lie in pages, it restores them in the state. */
function comparable({ state, tail: _, lastRequested: __, ...beside }: Instance): { [field: string]: unknown } {
  const { undo = [], pagedUndo, activities, ...others } = state;
  const unpaged = Object.entries(activities).map(([path, { above: ___, ...activity }]) => [path, activity] as const);
  const entries = undo.length + (pagedUndo?.entries ?? 0);
  return { ...beside, ...(others satisfies Partial<State>), activities: unpaged, entries, newest: undo.at(-1)?.path };
}
