import type { Request } from '#ports/messages';
import { type Law, on, type Setting } from './law.ts';

/** Services are slow, and hosts stand still in the middle of it: what was begun in time may be done so much later. */
const slackMs = 600_000;

type Sent = Pick<Request, 'requestId' | 'idempotencyKey' | 'completeBy' | 'type'>;

/** F-39: what a request asks for is neither begun nor done long after its time, however late the queue delivers it, or once more. */
export function longOver({ now, toleranceMs }: Pick<Setting, 'now' | 'toleranceMs'>): Law {
  /** By key, and by id of the request: until when it was asked for. */
  const until = new Map<string, number>();
  const wrongWith = (name: string, what: 'begun' | 'done'): string | undefined => {
    const by = until.get(name);
    const isOver = by !== undefined && now() > by + toleranceMs + slackMs;
    return isOver ? `${name} is ${what}, and was asked for until ${new Date(by).toISOString()}` : undefined;
  };
  return {
    name: 'long over',
    after: on(['sent', 'effect', 'agent event'], (observation) => {
      if (observation.type === 'agent event')
        return observation.event.what === 'calls' ? wrongWith(observation.event.requestId, 'begun') : undefined;
      if (observation.type === 'effect') return observation.undoes === undefined ? wrongWith(observation.key, 'done') : undefined;
      const { type, requestId, idempotencyKey, completeBy } = observation.queue.endsWith('-requests') ? sentIn(observation.body) : {};
      const by = type === 'request' ? Date.parse(String(completeBy)) : Number.NaN;
      for (const name of [requestId, idempotencyKey]) if (name !== undefined && by > (until.get(name) ?? 0)) until.set(name, by);
      return undefined;
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
