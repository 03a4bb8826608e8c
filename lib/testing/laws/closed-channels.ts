import { type Law, on, type Setting } from './law.ts';

/** The longest duration of one pass of a supervisor, which may have read the channel states at its start. */
const passMaxMs = 10_000;

/** An expired deadline does not count while the channel of its agent is closed. So no order goes into Error for it (S25). */
export const closedChannels = ({ now, closedForMs, standsStillMaxMs }: Setting): Law => ({
  name: 'closed channels',
  after: on(['written'], ({ before, after }) => {
    const agent = before?.nextDueFor?.agent;
    const ms = closedForMs(agent);
    if (!before || ms === undefined || ms < passMaxMs + standsStillMaxMs || after.failureCount <= before.failureCount) return undefined;
    const dueAt = before.nextDueAt ?? 0;
    if (dueAt < now() - ms) return undefined;
    return `order ${after.orderId}: an expiry of ${before.nextDueFor?.path} was counted although the channel of ${agent} has been closed for ${Math.round(ms / 1000)} s`;
  }),
});
