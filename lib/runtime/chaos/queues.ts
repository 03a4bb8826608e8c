import type { Clock } from '#ports/clock';
import type { Queues, Received } from '#ports/queues';
import type { Fault } from './fault.ts';

export interface FaultyQueues extends Queues {
  /** Ends all receives that wait, with no message. */
  readonly interrupt: () => void;
}

/** The pause before a silenced queue is checked again. */
const lookEveryMs = 200;

/** Puts the active faults between the roles and their queues. Without a fault, every call passes through. */
export function faultyQueues(queues: Queues, active: () => readonly Fault[], clock: Clock): FaultyQueues {
  /** Deliveries during an experiment that are not acknowledged yet, by receipt. */
  const open = new Map<string, Received>();
  /** Second deliveries that wait for a receive, by queue. */
  const copies = new Map<string, Received[]>();
  const waiting = new Set<AbortController>();
  const interrupt = (): void => {
    for (const each of waiting) each.abort('interrupted');
  };
  const isSilent = (queue: string): boolean => active().some((fault) => fault.silences?.(queue));

  /** Waits as long as a receive would, while a fault silences the queue. */
  async function silence(queue: string, waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    const until = clock.now() + waitMs;
    while (isSilent(queue) && clock.now() < until && !signal?.aborted) {
      if ((await queues.depth(queue)).visible > 0) for (const fault of active()) if (fault.silences?.(queue)) fault.waits?.();
      await clock.sleep(lookEveryMs, signal);
    }
  }

  /** Passes each delivery to the faults, and keeps a copy if a fault wants a second delivery. */
  function observed(queue: string, messages: readonly Received[]): readonly Received[] {
    for (const message of messages) {
      open.set(message.receipt, message);
      const isAgain = active().filter((fault) => fault.delivered?.(queue, message) === 'again').length > 0;
      if (!isAgain) continue;
      const copy = { ...message, receiveCount: message.receiveCount + 1, receipt: `${message.receipt} again` };
      copies.set(queue, [...(copies.get(queue) ?? []), copy]);
      interrupt();
    }
    return messages;
  }

  return {
    interrupt,
    depth: (queue) => queues.depth(queue),
    release: (queue, receipts, afterMs) => queues.release(queue, receipts, afterMs),
    async send(messages) {
      const arriving = messages.filter((message) => !active().some((fault) => fault.loses?.(message)));
      if (arriving.length > 0) await queues.send(arriving);
    },
    async receive(queue, options) {
      if (active().length === 0) open.clear();
      const kept = copies.get(queue);
      copies.delete(queue);
      if (kept) return observed(queue, kept);
      if (isSilent(queue)) {
        await silence(queue, options.waitMs, options.signal);
        return [];
      }
      const receive = (signal: AbortSignal) => queues.receive(queue, { ...options, signal });
      const messages = await interruptible(receive, waiting, options.signal);
      return active().length === 0 ? messages : observed(queue, messages);
    },
    async acknowledge(queue, receipts) {
      await queues.acknowledge(queue, receipts);
      for (const receipt of receipts) {
        const message = open.get(receipt);
        open.delete(receipt);
        if (message) for (const fault of active()) fault.acknowledged?.(queue, message);
      }
    },
  };
}

/** Runs a receive that ends when the signal aborts, or when it is interrupted. */
async function interruptible<T>(
  receive: (signal: AbortSignal) => Promise<T>,
  waiting: Set<AbortController>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const ending = new AbortController();
  const end = (): void => ending.abort(signal?.reason);
  if (signal?.aborted) end();
  signal?.addEventListener('abort', end, { once: true });
  waiting.add(ending);
  try {
    return await receive(ending.signal);
  } finally {
    waiting.delete(ending);
    signal?.removeEventListener('abort', end);
  }
}
