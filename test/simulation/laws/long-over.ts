import type { Request } from '../../../lib/messages.ts';
import { type Law, on, type Times } from './law.ts';

/** Services are slow, and hosts stand still in the middle of it: what was begun in time may be done so much later. */
const slackMs = 600_000;

type Sent = Pick<Request, 'idempotencyKey' | 'completeBy' | 'type'>;

/** F-39: what a request asks for is not done long after its time, however late the queue delivers it, or once more. */
export function longOver({ now, toleranceMs }: Pick<Times, 'now' | 'toleranceMs'>): Law {
  /** By key: until when it was asked for. */
  const until = new Map<string, number>();
  return {
    name: 'long over',
    after: on(['sent', 'effect'], (happening) => {
      if (happening.type === 'sent') {
        const { type, idempotencyKey, completeBy } = happening.queue.endsWith('-requests') ? sentIn(happening.body) : {};
        const by = type === 'request' ? Date.parse(String(completeBy)) : Number.NaN;
        if (idempotencyKey !== undefined && by > (until.get(idempotencyKey) ?? 0)) until.set(idempotencyKey, by);
        return undefined;
      }
      const { key, undoes } = happening;
      const by = until.get(key);
      const isOver = undoes === undefined && by !== undefined && now() > by + toleranceMs + slackMs;
      return isOver ? `${key} is done, and was asked for until ${new Date(by).toISOString()}` : undefined;
    }),
  };
}

function sentIn(body: string): Partial<Sent> {
  try {
    return (JSON.parse(body) ?? {}) as Partial<Sent>;
  } catch {
    return {};
  }
}
