import type { Clock } from '#ports/clock';
import { isFatal } from '#ports/errors';
import type { DueFor, StateHead, StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { isStopped } from './deadlines.ts';

/** Pause before unsent requests are sent again: a queue that refuses messages usually recovers within seconds. */
const soonMs = 5_000;

/**
 * Kinds of deadlines that `markUnsent` replaces by an earlier deadline. Otherwise a step could count as late although its request was never
 * sent.
 */
const replaceable: ReadonlySet<DueFor['kind']> = new Set(['step', 'claim', 'timer', 'outbox']);

/** Whether the requests of the last write could not be sent, and no redelivery will send them. */
export const isUnsent = ({ nextDueFor }: Pick<StateHead, 'nextDueFor'>): boolean => nextDueFor?.kind === 'unsent';

interface MarkPorts {
  readonly store: Pick<Store, 'head' | 'patch'>;
  readonly clock: Clock;
}

/**
 * Sets an early deadline at which the supervisor wakes the order without counting a failure, so that the scheduler sends
 * the requests. If this write fails, they are sent at the usual deadline.
 */
export async function markUnsent(written: StateRecord, ports: MarkPorts): Promise<void> {
  try {
    await mark(written, ports);
  } catch (error) {
    if (isFatal(error)) throw error;
  }
}

/** Marks the order, unless another write came since: that write sends its requests itself. */
async function mark({ orderId, writeIds }: StateRecord, { store, clock }: MarkPorts): Promise<void> {
  const head = await store.head(orderId);
  if (!head || head.nextDueAt === null || head.nextDueFor === null || !replaceable.has(head.nextDueFor.kind)) return;
  // A suspended order requests nothing, and its outbox has a deadline of its own.
  if (isStopped(head)) return;
  if (head.writeIds.at(-1)?.id !== writeIds.at(-1)?.id) return;
  const at = Math.min(head.nextDueAt, clock.now() + soonMs);
  const due = { nextDueAt: at, nextDueFor: { ...head.nextDueFor, kind: 'unsent' }, worklist: 'due', worklistAt: at } as const;
  await store.patch({ ...head, ...due, rev: head.rev + 1 }, head);
}
