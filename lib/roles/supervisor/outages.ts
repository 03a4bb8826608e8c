import { type Breaker, coversLateStep, phaseOf } from '#ports/circuit-breaker';
import type { Clock } from '#ports/clock';
import { queueNames } from '#ports/messages';
import type { StateHead } from '#ports/records';
import type { Store } from '#ports/store';
import { type Closures, closures, isShut, outageOf } from '#roles/channels/state';
import type { Outage } from './judge.ts';

/** The age at which channels and circuit breakers are read again: a long pass, or one that stood still, must not judge by old records. */
const freshMs = 10_000;

/** The outages of one pass. It reads each record once in ten seconds, and circuit breakers only if a step is late. */
export interface Outages {
  /** Forgets what the previous pass has read. */
  begin(): void;
  /** Returns the channels that are closed or were closed recently. */
  closed(): Promise<Closures>;
  /** Returns the outage that covers a part of the late step's time. An outage that still lasts comes first. */
  before(head: StateHead, dueAt: number, now: number): Promise<Outage | undefined>;
  /** Whether the channel of wake-ups is closed. If so, late orders are not woken: a pass finds them again when the channel is open. */
  shutsWakeUps(): Promise<boolean>;
}

export function createOutages(store: Pick<Store, 'breaker' | 'document' | 'documents'>, clock: Pick<Clock, 'now'>): Outages {
  let channels: Promise<Closures> | undefined;
  const breakers = new Map<string, Promise<Breaker | undefined>>();
  let readAt = 0;
  const begin = (): void => {
    channels = undefined;
    breakers.clear();
    readAt = clock.now();
  };
  const refresh = (): void => {
    // A clock that was set back does not make the records fresh.
    if (Math.abs(clock.now() - readAt) >= freshMs) begin();
  };
  const closed = (): Promise<Closures> => {
    refresh();
    return (channels ??= closures(store, clock.now()));
  };
  const breakerOf = (agent: string): Promise<Breaker | undefined> => {
    const known = breakers.get(agent) ?? store.breaker(agent);
    breakers.set(agent, known);
    return known;
  };

  return {
    closed,
    begin,
    async before({ nextDueFor, stepMs }, dueAt, now) {
      const agent = nextDueFor?.agent;
      const states = await closed();
      const breaker = agent === undefined ? undefined : await breakerOf(agent);
      const shut = [agent, queueNames.wakeUps].flatMap((name) => (name === undefined ? [] : (states.get(name) ?? [])));
      const outages = [
        ...shut.map((state) => {
          const record = outageOf(state, now);
          return { record, reason: `the channel ${state.channel} ${verbOf(record, now)} closed` };
        }),
        ...(breaker ? [{ record: breaker, reason: `the service of the agent ${breaker.agent} ${verbOf(breaker, now)} unavailable` }] : []),
      ].filter(({ record }) => coversLateStep(record, dueAt, stepMs, now));
      return outages.find(({ record }) => phaseOf(record, now) === 'open') ?? outages[0];
    },
    shutsWakeUps: async () => isShut((await closed()).get(queueNames.wakeUps), queueNames.wakeUps, clock.now()),
  };
}

/** The tense of a reason: an outage that is over may still explain why a step is late. */
const verbOf = (record: Breaker, now: number): 'is' | 'was' => (phaseOf(record, now) === 'closed' ? 'was' : 'is');
