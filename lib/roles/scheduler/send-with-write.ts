import { pagedOut } from './paging.ts';
import { openEntries, type Sending } from './sending.ts';
import { sentWithPlan } from './sent-along.ts';

/** Sends all messages in the transaction of the write. Nothing is left to send after it. */
export const sendWithWrite: Sending = {
  sendAgain: undefined,
  async prepare(loaded, planned, now, wakeUp = []) {
    const { instance, ...pages } = pagedOut(loaded, planned.instance);
    const { announcements, messages } = sentWithPlan(loaded.order, planned, [...openEntries(loaded, planned), ...planned.outbox], now);
    return {
      instance,
      outbox: [],
      sentWithWrite: { ...pages, announcements, messages: [...messages, ...wakeUp] },
      send: async () => undefined,
    };
  },
};
