import { isForged, type Law, on, type Setting } from './law.ts';

/** S8: an agent answers before the time of its asking is over, by its own clock, or not at all. */
export function deadlines(setting: Pick<Setting, 'forgedWord'>): Law {
  const until = new Map<string, number>();
  const extend = (requestId: string, at: string) => void until.set(requestId, Math.max(until.get(requestId) ?? 0, Date.parse(at)));
  return {
    name: 'deadlines',
    after: on(['sent'], (observation) => {
      if (!/-(requests|replies)$/.test(observation.queue) || observation.queue.startsWith('workflows-')) return undefined;
      const { type, requestId, completeBy, sentAt } = JSON.parse(observation.body) as { readonly [field: string]: string };
      // What is posted anew may be what no agent has said.
      if (requestId === undefined || isForged(observation.body, setting)) return undefined;
      if (completeBy !== undefined) extend(requestId, completeBy);
      if (type !== 'reply' || Date.parse(`${sentAt}`) <= (until.get(requestId) ?? 0)) return undefined;
      return `${requestId} is answered at ${sentAt}, though its time was over at ${new Date(until.get(requestId) ?? 0).toISOString()}`;
    }),
  };
}
