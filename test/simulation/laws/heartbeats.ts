import type { Happening } from '../sight.ts';
import { type Law, on } from './law.ts';

type Sent = Extract<Happening, { type: 'sent' }>;

interface Asked {
  readonly completeBy: string;
  readonly remainingMs: number;
}
interface Beat extends Asked {
  readonly requestId: string;
  readonly sentAt: string;
}

/** The longest that `carrier.ship` may take, and nobody else asks for more time. */
const longestMs = 40_000;

/** S16: who asks for more time asks for no more than he was given at first, each time, and for no more than his operation may take. */
export function heartbeats(): Law {
  const asked = new Map<string, Asked>();
  return {
    name: 'heartbeats',
    after: on(['sent'], (happening) => {
      if (happening.queue === 'carrier-requests' && happening.body.includes('"type":"request"')) {
        const { requestId, completeBy, remainingMs } = JSON.parse(happening.body) as Beat;
        // Sent once more it has less time; which of the copies its agent goes by is not known here.
        if (requestId !== undefined && remainingMs > (asked.get(requestId)?.remainingMs ?? 0))
          asked.set(requestId, { completeBy, remainingMs });
      }
      return happening.body.startsWith('{"v":1,"type":"heartbeat"') ? wrongIn(happening, asked) : undefined;
    }),
  };
}

function wrongIn({ queue, body }: Sent, asked: ReadonlyMap<string, Asked>): string | undefined {
  const { requestId, sentAt, completeBy } = JSON.parse(body) as Beat;
  const request = asked.get(requestId);
  if (queue !== 'carrier-replies' || !request) return `more time is asked for on ${queue}: ${body}`;
  const at = Date.parse(request.completeBy) - request.remainingMs;
  const until = Date.parse(completeBy);
  return until <= at + longestMs + 1 && until <= Date.parse(sentAt) + request.remainingMs + 1
    ? undefined
    : `${requestId} asks for time until ${completeBy}`;
}
