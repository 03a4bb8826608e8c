import { causeWrites, isCauseEntry } from '#roles/exceptions/store';
import { isObjectsEntry, objectWrites } from '#roles/recovery/objects';
import { pagedOut } from './paging.ts';
import { openEntries, type Sending, type SendingPorts } from './sending.ts';
import { sentWithPlan } from './sent-along.ts';

/** Sends all messages, and stores all records, in the transaction of the write. Nothing is left to send after it. */
export const sendWithWrite = ({ store }: Pick<SendingPorts, 'store'>): Sending => ({
  sendAgain: undefined,
  async prepare(loaded, planned, now, wakeUp = []) {
    const { instance, ...pages } = pagedOut(loaded, planned.instance);
    const entries = [...openEntries(loaded, planned), ...planned.outbox];
    const { announcements, messages } = sentWithPlan(loaded.order, planned, entries, now);
    const causes = entries.filter(isCauseEntry);
    const objects = entries.filter(isObjectsEntry).flatMap(objectWrites);
    const records = [...(causes.length > 0 ? await causeWrites(causes, store, loaded.order.reference) : []), ...objects];
    return {
      instance,
      outbox: [],
      sentWithWrite: {
        ...pages,
        announcements,
        messages: [...messages, ...wakeUp],
        ...(records.length > 0 ? { records } : {}),
      },
      send: async () => undefined,
    };
  },
});
