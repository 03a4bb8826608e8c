import { setTimeout as sleep } from 'node:timers/promises';
import type { Embedded } from '#adapters/sqlite/open';
import type { JournalEntry } from '#roles/scheduler/instance';
import { type Node, reaches } from '../../../test/processes/support.ts';

/** One time that a node was stopped, and went on as if nothing had been. Milliseconds since 1970. */
export interface Pause {
  readonly from: number;
  readonly to: number;
  /** Its neighbour got the lease meanwhile. Not so where it was stopped in the middle of a write: then all others wait for it. */
  readonly takenOver: boolean;
  /** What it tried with the lease that another one had meanwhile was refused. */
  readonly refused: boolean;
}

export const leaseMs = 300;
/** From three leases to four: longer than a step may take, too. */
const pauseMs = () => leaseMs * (3 + Math.random());
const betweenMs = 150;
const longLeaseMs = 10_000;

/**
 * Stops one of the two nodes after the other, for longer than its leases last. Each time it holds an order that its
 * neighbour takes over; what it is told meanwhile it does when it goes on: as the holder that it was.
 */
export async function pauseInTurn(
  pair: readonly [Node, Node],
  held: string,
  count: number,
  onPause: () => void,
): Promise<readonly Pause[]> {
  const pauses: Pause[] = [];
  for (let index = 0; index < count; index++) {
    const [stale, other] = index % 2 === 0 ? pair : [pair[1], pair[0]];
    await stale.call('hold', held, leaseMs);
    const from = Date.now();
    stale.child.kill('SIGSTOP');
    const over = from + pauseMs();
    const taking = takeOver(other, held, over);
    const takenOver = await Promise.race([taking, sleep(over - Date.now()).then(() => false)]);
    const late = [stale.call('resubmit', held), stale.call('release', held)] as const;
    for (const call of late) call.catch(() => undefined);
    await sleep(Math.max(0, over - Date.now()));
    const to = Date.now();
    stale.child.kill('SIGCONT');
    const [resubmitted] = await Promise.allSettled(late);
    await taking;
    pauses.push({ from, to, takenOver, refused: resubmitted.status === 'rejected' && resubmitted.reason.name === 'InstanceLockedError' });
    await other.call('release', held);
    onPause();
    await sleep(betweenMs);
  }
  return pauses;
}

/** As soon as the other one's time is over; false where it never was until then. */
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

/** An order in Error, which a person may hold. */
export async function heldOrder(node: Node, embedded: Embedded, key: string, order: object): Promise<string> {
  const orderId = await node.call('submit', key, order as never, 'fulfil-order');
  await reaches(embedded, orderId, 'Error');
  return orderId;
}

/** Every result that was taken though its step had been asked anew since. */
export function* staleResultsIn(orderId: string, journal: readonly JournalEntry[]): Generator<string> {
  const asked = new Map<string, string>();
  for (const entry of journal) {
    if (entry.type === 'StepRequested') asked.set(entry.path, entry.attemptId);
    if (entry.type !== 'ActivityClosed' || entry.attemptId === undefined || entry.attemptId === asked.get(entry.path)) continue;
    yield `${orderId}: ${entry.path} took the answer to ${entry.attemptId}, and ${asked.get(entry.path)} had been asked`;
  }
}
