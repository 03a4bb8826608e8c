import { outputOf } from '#core/data/child-order';
import { timeText } from '#ports/messages';
import type { History, Tracked } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/** The part of a status message that follows from the order. */
interface Notice {
  readonly status: string;
  readonly outcome?: string;
}
interface Numbered {
  readonly seq: number;
  readonly reference: string | undefined;
}
type Message = Notice & { readonly [field: string]: unknown; readonly orderId?: string; readonly seq: number };

/** Each change of an order that its client must know sends one status message, with exactly the expected fields (S18). */
export function statusMessages({ responseQueue, referenceOf, writesAndSendsAtomically }: Setting): Law {
  const expected = new Map<string, string>();
  const sent = new Map<string, string>();
  /** A restored order does not know of messages that were sent since its backup. */
  let isRestored = false;
  const compare = (key: string): string | undefined => {
    const [due, got] = [expected.get(key), sent.get(key)];
    return due === undefined || got === undefined || due === got ? undefined : `status message ${key} is ${got}, expected ${due}`;
  };
  return {
    name: 'status messages',
    after: on(['sent', 'written', 'restored'], (observation, history) => {
      if (observation.type === 'restored') isRestored = true;
      if (observation.type === 'sent' && observation.queue === responseQueue) {
        const message = JSON.parse(observation.body) as Message;
        if (message.orderId === undefined) return undefined;
        const order = history.orders.get(message.orderId);
        // If the store sends messages within a write, the message is observed before its write.
        if (!writesAndSendsAtomically && !isRestored && order && order.damagedAt === undefined && message.seq > order.state.statusSeq)
          return `order ${message.orderId} sent status message ${message.seq} without a write that contains it`;
        sent.set(`${message.orderId}/${message.seq}`, observation.body);
        return compare(`${message.orderId}/${message.seq}`);
      }
      if (observation.type !== 'written') return undefined;
      const order = history.orders.get(observation.after.orderId);
      if (!order || order.damagedAt !== undefined || order.state.responseChannel === null) return undefined;
      const { before } = observation;
      const due = dueOf(order, before?.processState === 'Processed', history);
      const seq = before?.statusSeq ?? 0;
      if (order.state.statusSeq !== seq + due.length)
        return `order ${order.orderId}: a write has ${order.state.statusSeq - seq} new status messages, expected ${due.length}`;
      for (const [index, notice] of due.entries()) {
        const key = `${order.orderId}/${seq + index + 1}`;
        expected.set(key, textOf(order, { seq: seq + index + 1, reference: referenceOf(order.orderId) }, notice));
        const wrong = compare(key);
        if (wrong !== undefined) return wrong;
      }
      return undefined;
    }),
  };
}

function dueOf({ orderId, state, before, instance, writes }: Tracked, wasProcessed: boolean, history: History): readonly Notice[] {
  const { blocked } = instance.state;
  const isNew = writes === 1 && history.orders.has(orderId);
  const isNewlyBlocked = blocked !== undefined && JSON.stringify(blocked) !== JSON.stringify(before?.state.blocked);
  const outcome = state.outcome ?? '';
  return [
    ...(isNew ? [{ status: 'received' }] : []),
    ...(isNewlyBlocked ? [{ status: 'delayed' }] : []),
    ...(state.processState === 'Processed' && !wasProcessed ? [{ status: outcome === 'completed' ? 'completed' : 'failed', outcome }] : []),
  ];
}

function textOf({ orderId, state, instance }: Tracked, { seq, reference }: Numbered, notice: Notice): string {
  const { status, outcome } = notice;
  const at = timeText(state.updatedAt);
  const output = status === 'completed' ? outputOf(instance.state) : undefined;
  const fault = status === 'received' ? null : state.fault;
  return JSON.stringify({
    ...{ v: 1, type: 'status', orderId },
    ...(reference === undefined ? {} : { reference }),
    ...{ seq, status },
    ...(outcome === undefined ? {} : { outcome }),
    ...(output === undefined ? {} : { output }),
    ...(fault ? { fault: { type: fault.type } } : {}),
    at,
  });
}
