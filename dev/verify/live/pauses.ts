import { setTimeout as sleep } from 'node:timers/promises';
import type { Embedded } from '#adapters/sqlite/open';
import type { JournalEntry } from '#roles/scheduler/instance';
import { type Node, reaches } from '../../../test/processes/support.ts';

/** One pause of a node, which continued afterwards as if no time had passed. Milliseconds since 1970. */
export interface Pause {
  readonly from: number;
  readonly to: number;
  /**
   * Whether the other node of the pair got the lease meanwhile. It got none if this node was paused during a write, because SQLite
   * makes all other writers wait for that write.
   */
  readonly takenOver: boolean;
  /** Whether the instruction that the paused node gave with its lost lease was refused. */
  readonly refused: boolean;
}

export const leaseMs = 300;
/** Three to four leases, which is also longer than a step may take. */
const pauseMs = () => leaseMs * (3 + Math.random());
const betweenMs = 150;
const longLeaseMs = 10_000;

/**
 * Pauses the two nodes of a pair in turn, each time for longer than a lease lasts.
 *
 * The paused node holds the lease of an order, which the other node takes over. When the paused node continues, it processes the
 * messages that arrived during the pause as if it still held the lease.
 */
export async function pauseInTurn(
  pair: readonly [Node, Node],
  leasedBy: string,
  count: number,
  onPause: () => void,
): Promise<readonly Pause[]> {
  const pauses: Pause[] = [];
  for (let index = 0; index < count; index++) {
    const [stale, other] = index % 2 === 0 ? pair : [pair[1], pair[0]];
    await stale.call('hold', leasedBy, leaseMs);
    const from = Date.now();
    stale.child.kill('SIGSTOP');
    const over = from + pauseMs();
    const taking = takeOver(other, leasedBy, over);
    const takenOver = await Promise.race([taking, sleep(over - Date.now()).then(() => false)]);
    const late = [stale.call('resubmit', leasedBy), stale.call('release', leasedBy)] as const;
    for (const call of late) call.catch(() => undefined);
    await sleep(Math.max(0, over - Date.now()));
    const to = Date.now();
    stale.child.kill('SIGCONT');
    const [resubmitted] = await Promise.allSettled(late);
    await taking;
    pauses.push({ from, to, takenOver, refused: resubmitted.status === 'rejected' && resubmitted.reason.name === 'InstanceLockedError' });
    await other.call('release', leasedBy);
    onPause();
    await sleep(betweenMs);
  }
  return pauses;
}

/** Acquires the lease as soon as the other node's lease has ended; false if it had not by `until`. */
async function takeOver(node: Node, orderId: string, until: number): Promise<boolean> {
  for (;;) {
    const refusal = await node.call('hold', orderId, longLeaseMs).then(
      () => undefined,
      (error: Error) => error,
    );
    if (!refusal) return true;
    if (refusal.name !== 'InstanceLockedError') throw refusal;
    if (Date.now() > until) return false;
    await sleep(20);
  }
}

/** Submits an order that goes into Error, so that a test may hold its lease. */
export async function leasedOrder(node: Node, embedded: Embedded, key: string, order: object): Promise<string> {
  const orderId = await node.call('submit', key, order as never, 'fulfil-order');
  await reaches(embedded, orderId, 'Error');
  return orderId;
}

/** Yields every accepted result of an attempt after which its step had been requested again. */
export function* staleResultsIn(orderId: string, journal: readonly JournalEntry[]): Generator<string> {
  const requested = new Map<string, string>();
  for (const entry of journal) {
    if (entry.type === 'StepRequested') requested.set(entry.path, entry.attemptId);
    if (entry.type !== 'ActivityClosed' || entry.attemptId === undefined || entry.attemptId === requested.get(entry.path)) continue;
    yield `${orderId}: ${entry.path} took the answer to ${entry.attemptId}, and ${requested.get(entry.path)} had been requested`;
  }
}
