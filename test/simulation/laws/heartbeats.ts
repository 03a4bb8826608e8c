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
  /** Each copy as it was sent: by which of them its agent goes is not known here. */
  const asked = new Map<string, readonly Asked[]>();
  return {
    name: 'heartbeats',
    after: on(['sent'], (happening) => {
      if (happening.queue === 'carrier-requests' && happening.body.includes('"type":"request"')) {
        const { requestId, completeBy, remainingMs } = JSON.parse(happening.body) as Beat;
        if (requestId !== undefined) asked.set(requestId, [...(asked.get(requestId) ?? []), { completeBy, remainingMs }]);
      }
      return happening.body.startsWith('{"v":1,"type":"heartbeat"') ? wrongIn(happening, asked) : undefined;
    }),
  };
}

function wrongIn({ queue, body }: Sent, asked: ReadonlyMap<string, readonly Asked[]>): string | undefined {
  const { requestId, sentAt, completeBy } = JSON.parse(body) as Beat;
  const requests = asked.get(requestId);
  if (queue !== 'carrier-replies' || !requests) return `more time is asked for on ${queue}: ${body}`;
  const until = Date.parse(completeBy);
  const isGiven = ({ completeBy: by, remainingMs }: Asked): boolean =>
    until <= Date.parse(by) - remainingMs + longestMs + 1 && until <= Date.parse(sentAt) + remainingMs + 1;
  return requests.some(isGiven) ? undefined : `${requestId} asks for time until ${completeBy}`;
}
