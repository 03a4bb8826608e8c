import { type Law, on, type Setting } from './law.ts';

/** Who looks for what is late may have looked for what is closed just before, and have stood still since. */
const passMaxMs = 10_000;

/** S25: a deadline that passes while the channel of its agent is closed counts nothing: nobody ends in Error for a closed channel. */
export const closed = ({ now, closedForMs, standsStillMaxMs }: Setting): Law => ({
  name: 'closed',
  after: on(['written'], ({ before, after }) => {
    const agent = before?.nextDueFor?.agent;
    const ms = closedForMs(agent);
    if (!before || ms === undefined || ms < passMaxMs + standsStillMaxMs || after.failureCount <= before.failureCount) return undefined;
    const dueAt = before.nextDueAt ?? 0;
    if (dueAt < now() - ms) return undefined;
    return `${after.orderId} is late for ${before.nextDueFor?.path}, and ${agent} has been closed for ${Math.round(ms / 1000)} s`;
  }),
});
