import { agentOfRequests, queueNames } from '#ports/messages';
import type { Observation } from '#testing/world/observation';
import { type Law, on, operationIn, type Setting } from './law.ts';

type Sent = Extract<Observation, { type: 'sent' }>;

interface Asked {
  readonly completeBy: string;
  readonly remainingMs: number;
  readonly longestMs: number;
  readonly agent: string;
}
interface Beat extends Asked {
  readonly requestId: string;
  readonly sentAt: string;
}

/** S16: who asks for more time asks for no more than he was given at first, each time, and for no more than his operation may take. */
export function heartbeats(setting: Pick<Setting, 'agents'>): Law {
  /** Each copy as it was sent: by which of them its agent goes is not known here. */
  const asked = new Map<string, readonly Asked[]>();
  return {
    name: 'heartbeats',
    after: on(['sent'], (observation) => {
      const agent = agentOfRequests(observation.queue);
      if (agent !== undefined && observation.body.includes('"type":"request"')) {
        const { requestId, operation, completeBy, remainingMs } = JSON.parse(observation.body) as Beat & { readonly operation: string };
        const { longestSeconds } = operationIn(setting, `${agent}.${operation}`) ?? {};
        const one = { completeBy, remainingMs, longestMs: 1000 * (longestSeconds ?? 0), agent };
        if (requestId !== undefined && longestSeconds !== undefined) asked.set(requestId, [...(asked.get(requestId) ?? []), one]);
      }
      return observation.body.startsWith('{"v":1,"type":"heartbeat"') ? wrongIn(observation, asked) : undefined;
    }),
  };
}

function wrongIn({ queue, body }: Sent, asked: ReadonlyMap<string, readonly Asked[]>): string | undefined {
  const { requestId, sentAt, completeBy } = JSON.parse(body) as Beat;
  const requests = asked.get(requestId);
  if (!requests || queue !== queueNames.replies(requests[0]?.agent ?? '')) return `more time is asked for on ${queue}: ${body}`;
  const until = Date.parse(completeBy);
  const isGiven = ({ completeBy: by, remainingMs, longestMs }: Asked): boolean =>
    until <= Date.parse(by) - remainingMs + longestMs + 1 && until <= Date.parse(sentAt) + remainingMs + 1;
  return requests.some(isGiven) ? undefined : `${requestId} asks for time until ${completeBy}`;
}
