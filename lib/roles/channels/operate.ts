import { phaseOf, restedMs } from '#ports/circuit-breaker';
import type { Store } from '#ports/store';
import { type Beside, type ChangeOutcome, type ChannelChange, changeChannelState, channelState, closed, opened } from './state.ts';

type Kept = Pick<Store, 'document' | 'putDocument' | 'breaker' | 'putBreaker'>;

export const closeChannel = (channel: string, queue: string, change: ChannelChange, store: Kept, beside?: Beside): Promise<ChangeOutcome> =>
  changeChannelState(
    channel,
    store,
    (before) => (before?.state === 'closed' ? undefined : closed(before, channel, [queue], change)),
    beside,
  );

/** The options of an opening. With `canary`, one request goes first; the others follow gradually after its answer. */
export interface Opening extends ChannelChange {
  readonly canary: boolean;
}

export async function openChannel(channel: string, { canary, ...change }: Opening, store: Kept, beside?: Beside): Promise<ChangeOutcome> {
  const found = await channelState(channel, store);
  if (found?.state !== 'closed') return { outcome: 'unchanged', state: found };
  // With a canary, the channel opens only after no process has received messages for `restedMs`. So each process reads the breaker before
  // its next call.
  const at = canary ? Math.max(change.now, found.at + restedMs) : change.now;
  if (canary) await openBreaker(channel, found.closedAt ?? found.at, at, store);
  return changeChannelState(channel, store, (before) => (before?.state === 'closed' ? opened(before, change, at) : undefined), beside);
}

/** Opens the circuit breaker of the agent, as after an outage: one process probes, and the others follow if the probe succeeds. */
async function openBreaker(agent: string, openedAt: number, probeAt: number, store: Kept): Promise<void> {
  const known = await store.breaker(agent);
  if (phaseOf(known, probeAt) === 'open') return;
  const rev = known?.rev ?? 0;
  // On a lost race the other write stays: it has newer knowledge of the service.
  await store.putBreaker({ agent, rev: rev + 1, openedAt, probeAt, failedProbes: 0, closedAt: null }, rev);
}
