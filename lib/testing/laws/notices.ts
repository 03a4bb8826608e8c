import { timeText } from '#ports/messages';
import type { History, Tracked } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/** What a client is told, as far as it follows from the order. */
interface Notice {
  readonly status: string;
  readonly outcome?: string;
}
interface Numbered {
  readonly seq: number;
  readonly reference: string | undefined;
}
type Message = Notice & { readonly [field: string]: unknown; readonly orderId?: string; readonly seq: number };

/** S18: a status message is sent for what it says, when it is so, and says all that it must, and nothing else. */
export function notices({ responseQueue, referenceOf, writesAndSendsAtomically }: Setting): Law {
  const wanted = new Map<string, string>();
  const sent = new Map<string, string>();
  /** A restored order does not know of what was sent since its backup. */
  let isRestored = false;
  const compare = (key: string): string | undefined => {
    const [want, got] = [wanted.get(key), sent.get(key)];
    return want === undefined || got === undefined || want === got ? undefined : `the client is told ${got} instead of ${want}`;
  };
  return {
    name: 'notices',
    after: on(['sent', 'written', 'restored'], (observation, history) => {
      if (observation.type === 'restored') isRestored = true;
      if (observation.type === 'sent' && observation.queue === responseQueue) {
        const message = JSON.parse(observation.body) as Message;
        if (message.orderId === undefined) return undefined;
        const order = history.orders.get(message.orderId);
        // Where it travels with the very write, it is seen first.
        if (!writesAndSendsAtomically && !isRestored && order && order.damagedAt === undefined && message.seq > order.state.statusSeq)
          return `${message.orderId} sends its status ${message.seq}, and no write says so`;
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
        return `${order.orderId} has ${order.state.statusSeq - seq} new things for its client instead of ${due.length}`;
      for (const [index, notice] of due.entries()) {
        const key = `${order.orderId}/${seq + index + 1}`;
        wanted.set(key, textOf(order, { seq: seq + index + 1, reference: referenceOf(order.orderId) }, notice));
        const wrong = compare(key);
        if (wrong !== undefined) return wrong;
      }
      return undefined;
    }),
  };
}

function dueOf({ orderId, state, before, instance, writes }: Tracked, wasProcessed: boolean, history: History): readonly Notice[] {
  const { blocked: held } = instance.state;
  const isNew = writes === 1 && history.orders.has(orderId);
  const isHeldAnew = held !== undefined && JSON.stringify(held) !== JSON.stringify(before?.state.blocked);
  const outcome = state.outcome ?? '';
  return [
    ...(isNew ? [{ status: 'received' }] : []),
    ...(isHeldAnew ? [{ status: 'delayed' }] : []),
    ...(state.processState === 'Processed' && !wasProcessed ? [{ status: outcome === 'completed' ? 'completed' : 'failed', outcome }] : []),
  ];
}

function textOf({ orderId, state }: Tracked, { seq, reference }: Numbered, notice: Notice): string {
  const { status, outcome } = notice;
  const at = timeText(state.updatedAt);
  return JSON.stringify({
    ...{ v: 1, type: 'status', orderId },
    ...(reference === undefined ? {} : { reference }),
    ...{ seq, status },
    ...(outcome === undefined ? {} : { outcome }),
    at,
  });
}
