import type { Request } from '#ports/messages';
import { type Law, on, type Setting } from './law.ts';

/** The longest time from a deadline to an effect whose call began before that deadline: services are slow, and processes stand still. */
const slackMs = 600_000;

type Sent = Pick<Request, 'requestId' | 'idempotencyKey' | 'completeBy' | 'type'>;

/** No call begins and no effect happens long after the deadline of its request, even if the queue delivers it late (F-39). */
export function overdueRequests({ now, toleranceMs }: Pick<Setting, 'now' | 'toleranceMs'>): Law {
  /** Latest deadline, by idempotency key and by request id. */
  const until = new Map<string, number>();
  const wrongWith = (name: string, what: 'began' | 'took effect'): string | undefined => {
    const by = until.get(name);
    const isOverdue = by !== undefined && now() > by + toleranceMs + slackMs;
    return isOverdue ? `request ${name} ${what} long after its deadline ${new Date(by).toISOString()}` : undefined;
  };
  return {
    name: 'overdue requests',
    after: on(['sent', 'effect', 'agent event'], (observation) => {
      if (observation.type === 'agent event')
        return observation.event.what === 'calls' ? wrongWith(observation.event.requestId, 'began') : undefined;
      if (observation.type === 'effect') return observation.undoes === undefined ? wrongWith(observation.key, 'took effect') : undefined;
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
