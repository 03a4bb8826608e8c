import { unknownVersion } from '#ports/errors';
import { type OrderRecord, type StateHead, type StateRecord, shardOf } from '#ports/records';
import { recordIn } from '#ports/util/json';

/** Returns the head of a state; throws UnreadableRecordError, which concerns this order alone. */
export function headOf(orderId: string, text: string): StateHead {
  const head = recordIn<StateHead | null>(orderId, text);
  if (head?.schemaVersion !== 1) throw unknownVersion(orderId, head?.schemaVersion, head?.updatedAt);
  return head;
}

export const orderOf = (orderId: string, row: unknown): OrderRecord => recordIn(orderId, (row as { record: string }).record);

type StateColumns = [number, number, string, string | null, number | null, number | null, number | null, number | null, string];

/** Returns the columns of a state, except for its instance (`blob`). The last one is the head as JSON text. */
export const columnsOf = (state: StateHead | StateRecord): StateColumns => {
  const { blob: _, ...head } = state as StateRecord;
  return [
    state.rev,
    state.epoch,
    state.processState,
    state.worklist,
    state.worklist === null ? null : shardOf(state.orderId),
    state.worklistAt,
    state.processState === 'Processed' ? state.updatedAt : null,
    // Lists of orders in Error are in the order of submission.
    state.processState === 'Error' ? (state.submittedAt ?? null) : null,
    JSON.stringify(head),
  ];
};
