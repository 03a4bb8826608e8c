import { isForged, type Law, on, type Setting } from './law.ts';

/** An agent sends no reply after the deadline of the request, by the clock of the agent (S8). */
export function replyDeadlines(setting: Pick<Setting, 'forgedWord'>): Law {
  /** Latest deadline by request id: a heartbeat extends it. */
  const until = new Map<string, number>();
  const extend = (requestId: string, at: string) => void until.set(requestId, Math.max(until.get(requestId) ?? 0, Date.parse(at)));
  return {
    name: 'reply deadlines',
    after: on(['sent'], (observation) => {
      if (!/-(requests|replies)$/.test(observation.queue) || observation.queue.startsWith('workflows-')) return undefined;
      const { type, requestId, completeBy, sentAt } = JSON.parse(observation.body) as { readonly [field: string]: string };
      // No agent has sent a forged reply, even if the scheduler has requeued it.
      if (requestId === undefined || isForged(observation.body, setting)) return undefined;
      if (completeBy !== undefined) extend(requestId, completeBy);
      const deadline = until.get(requestId);
      // A requeued reply may be to a request of an order that was forgotten. Such a reply was judged when it was first sent.
      if (type !== 'reply' || deadline === undefined || Date.parse(`${sentAt}`) <= deadline) return undefined;
      return `request ${requestId}: its agent replied at ${sentAt}, after the deadline ${new Date(deadline).toISOString()}`;
    }),
  };
}
