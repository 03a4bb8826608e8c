import { consumerOf } from '#ports/messages';
import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

type Turned = Extract<Observation, { type: 'consumer turned' }>;
type Step = Extract<Observation, { type: 'handler' }>;

/**
 * A handler that began. `endsAt`: the time by which each handler ends, unless its process is dead. A canary that failed counts as running
 * until this time, because the next canary begins later.
 */
interface RunningHandler {
  readonly messageId: string;
  readonly endsAt: number;
}

const handledMaxMs = 3_000;

/**
 * A closed consumer handles nothing that was delivered after its closing. After an opening with a canary it handles one message at a time
 * until one succeeds (S54).
 */
export function consumerCanary({ now }: Pick<Setting, 'now'>): Law {
  const states = new Map<string, 'closed' | 'canary'>();
  const closedAt = new Map<string, number>();
  const deliveredAt = new Map<string, number>();
  const working = new Map<string, readonly RunningHandler[]>();
  /**
   * Processes that may handle several messages in spite of a canary. If a process cannot read or write a circuit breaker, it goes on: an
   * outage of the store must not stop the messages. If its clock has jumped, it does not know how long it has rested.
   */
  const blind = new Set<string>();

  function turned({ channel, state, isCanary }: Turned): void {
    if (state === 'closed' && states.get(channel) !== 'closed') closedAt.set(channel, now());
    if (state === 'closed') states.set(channel, 'closed');
    else if (states.get(channel) === 'closed' && isCanary) states.set(channel, 'canary');
    else if (states.get(channel) === 'closed') states.delete(channel);
  }

  function began(channel: string, { batch, messageId }: Step): string | undefined {
    const state = states.get(channel);
    const isAfterClosing = (deliveredAt.get(batch) ?? 0) > (closedAt.get(channel) ?? 0);
    if (state === 'closed' && isAfterClosing) return `the consumer ${channel} is closed, and handles message ${messageId}`;
    if (blind.has(hostOf(batch))) return undefined;
    const others = (working.get(channel) ?? []).filter(({ endsAt }) => endsAt > now());
    working.set(channel, [...others, { messageId, endsAt: now() + handledMaxMs }]);
    return state === 'canary' && others.length > 0
      ? `the consumer ${channel} handles message ${messageId} beside ${others[0]?.messageId}, and no canary has succeeded`
      : undefined;
  }

  return {
    name: 'consumer canary',
    after: on(['delivered', 'consumer turned', 'call failed', 'clock jumps', 'handler'], (observation) => {
      if (observation.type === 'delivered') {
        if (observation.batch !== undefined) deliveredAt.set(observation.batch, now());
        return undefined;
      }
      if (observation.type === 'consumer turned') return void turned(observation);
      if (observation.type === 'clock jumps') return void blind.add(observation.host);
      if (observation.type === 'call failed') {
        if (/[bB]reaker$/.test(observation.site)) blind.add(hostOf(observation.batch));
        return undefined;
      }
      const channel = consumerOf(observation.queue) ?? '';
      if (observation.step === 'began') return began(channel, observation);
      if (observation.step !== 'handled' && states.get(channel) === 'canary') return undefined;
      working.set(
        channel,
        (working.get(channel) ?? []).filter(({ messageId }) => messageId !== observation.messageId),
      );
      if (observation.step === 'handled' && states.get(channel) === 'canary') states.delete(channel);
      return undefined;
    }),
  };
}

/** The process of a batch: the name of the batch without its number. */
const hostOf = (batch: string): string => batch.slice(0, batch.lastIndexOf(' '));
