import { agentOfRequests, queueNames } from '#ports/messages';
import type { Observation } from '#testing/world/observation';
import { type Law, on, operationIn, type Setting } from './law.ts';

type Sent = Extract<Observation, { type: 'sent' }>;

interface Limits {
  readonly completeBy: string;
  readonly remainingMs: number;
  /** Time that the request had when it was first sent. */
  readonly givenMs: number;
  readonly longestMs: number;
  readonly agent: string;
}
interface Heartbeat extends Limits {
  readonly requestId: string;
  readonly sentAt: string;
}

/** A heartbeat asks for at most as much time as its request had at first. The total stays within the operation's longest duration (S16). */
export function heartbeats(setting: Pick<Setting, 'agents'>): Law {
  /** Limits of all copies of each request. The copy that the agent received is not visible. */
  const limitsOf = new Map<string, readonly Limits[]>();
  return {
    name: 'heartbeats',
    after: on(['sent'], (observation) => {
      const agent = agentOfRequests(observation.queue);
      if (agent !== undefined && observation.body.includes('"type":"request"')) {
        const {
          requestId,
          operation,
          completeBy,
          remainingMs,
          givenMs = remainingMs,
        } = JSON.parse(observation.body) as Heartbeat & {
          readonly operation: string;
        };
        const { longestSeconds } = operationIn(setting, `${agent}.${operation}`) ?? {};
        const limits = { completeBy, remainingMs, givenMs, longestMs: 1000 * (longestSeconds ?? 0), agent };
        if (requestId !== undefined && longestSeconds !== undefined) limitsOf.set(requestId, [...(limitsOf.get(requestId) ?? []), limits]);
      }
      return observation.body.startsWith('{"v":1,"type":"heartbeat"') ? wrongIn(observation, limitsOf) : undefined;
    }),
  };
}

function wrongIn({ queue, body }: Sent, limitsOf: ReadonlyMap<string, readonly Limits[]>): string | undefined {
  const { requestId, sentAt, completeBy } = JSON.parse(body) as Heartbeat;
  const requests = limitsOf.get(requestId);
  if (!requests || queue !== queueNames.replies(requests[0]?.agent ?? ''))
    return `heartbeat on queue ${queue} belongs to no request: ${body}`;
  const until = Date.parse(completeBy);
  const isAllowed = ({ completeBy: by, remainingMs, givenMs, longestMs }: Limits): boolean =>
    until <= Date.parse(by) - remainingMs + longestMs + 1 && until <= Date.parse(sentAt) + givenMs + 1;
  return requests.some(isAllowed) ? undefined : `request ${requestId}: its heartbeat requests too much time, until ${completeBy}`;
}
