import { phaseOf, restedMs } from '#ports/circuit-breaker';
import type { Store } from '#ports/store';
import { type ChangeOutcome, type ChannelChange, changeChannelState, channelState, closed, opened } from './state.ts';

/** `unchanged`: it was so already. */
export type Turned = ChangeOutcome;

type Kept = Pick<Store, 'document' | 'putDocument' | 'breaker' | 'putBreaker'>;

export const closeChannel = (channel: string, queue: string, change: ChannelChange, store: Kept): Promise<Turned> =>
  changeChannelState(channel, store, (before) => (before?.state === 'closed' ? undefined : closed(before, channel, [queue], change)));

/** `canary`: one request goes first; the others follow when it was answered, a few at a time. */
export interface Opening extends ChannelChange {
  readonly canary: boolean;
}

export async function openChannel(channel: string, { canary, ...change }: Opening, store: Kept): Promise<Turned> {
  const found = await channelState(channel, store);
  if (found?.state !== 'closed') return { outcome: 'unchanged', state: found };
  // Nobody has called for so long by then: whoever calls next looks first whether he may.
  const at = canary ? Math.max(change.now, found.at + restedMs) : change.now;
  if (canary) await letOneGoFirst(channel, found.closedAt ?? found.at, at, store);
  return changeChannelState(channel, store, (before) => (before?.state === 'closed' ? opened(before, change, at) : undefined));
}

/** As if the service had been away: one probes, and when it went well the others follow. */
async function letOneGoFirst(agent: string, openedAt: number, probeAt: number, store: Kept): Promise<void> {
  const known = await store.breaker(agent);
  if (phaseOf(known, probeAt) === 'open') return;
  const rev = known?.rev ?? 0;
  // Whoever is faster knows more of the service: it stays as he says.
  await store.putBreaker({ agent, rev: rev + 1, openedAt, probeAt, failedProbes: 0, closedAt: null }, rev);
}
