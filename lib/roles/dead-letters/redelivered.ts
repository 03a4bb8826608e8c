import type { Delivery } from '#ports/delivery';
import type { StartedAttempt, StoredFailureCount } from './failure-counts.ts';
import type { FailurePolicy, FailurePolicyPorts } from './outcome.ts';

/** Whether a message was delivered before. An earlier attempt failed or crashed its process. */
export const isRedelivered = ({ receiveCount }: Delivery): boolean => receiveCount > 1;

interface Redelivered {
  readonly delivery: Delivery;
  readonly counts: StoredFailureCount;
}

/** Waiting messages are hidden for this long at a time. It is short, so that other hosts receive them soon after a crash. */
const heldMs = 5_000;
const holdAgainMs = 2_000;
/** A message runs alone for this long. One that takes longer is waiting for something, so it is unlikely to crash the process. */
const aloneMs = 2_000;

/**
 * Begins redelivered messages one after the other, those with the most failures last. Each runs alone for `aloneMs`; then the next message
 * begins, even if the first one still runs. The attempt of a message is counted as a failure just before it begins. So a message that soon
 * crashes its process is found, and the counts of messages that still wait do not rise. Resolves to the messages to redeliver.
 */
export async function inTurn(
  deliveries: readonly Delivery[],
  handle: (delivery: Delivery) => Promise<void>,
  failurePolicy: FailurePolicy,
  ports: FailurePolicyPorts,
): Promise<readonly Delivery[]> {
  const again: Delivery[] = [];
  const { known: counts, unknown } = await countsOf(deliveries, failurePolicy);
  for (const { delivery, error } of unknown) if (await failurePolicy.failed(delivery, error)) again.push(delivery);
  const waiting = counts.toSorted((a, b) => failuresOf(a) - failuresOf(b));
  const holding = waiting.length > 1 ? await keepInvisible(waiting, ports) : undefined;

  async function tryOne({ delivery, counts: before }: Redelivered): Promise<void> {
    await holding?.beginTurn(delivery);
    let begun: StartedAttempt | undefined;
    try {
      // Undefined if the message has failed too often: it is a dead letter now, and leaves its queue.
      begun = await failurePolicy.begin(delivery, before);
      if (begun) await handle(delivery);
    } catch (error) {
      if (await failurePolicy.failed(delivery, error, begun)) again.push(delivery);
      else await holding?.done(delivery);
      return;
    }
    if (begun) await failurePolicy.succeeded(delivery, begun);
    await holding?.done(delivery);
  }

  const atWork: Promise<void>[] = [];
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const work = tryOne(next);
    atWork.push(work);
    await aloneForAWhile(work, ports);
  }
  await Promise.all(atWork);
  await holding?.stop();
  return again;
}

const failuresOf = ({ counts }: Redelivered): number => counts.count?.failures ?? 0;

async function countsOf(deliveries: readonly Delivery[], failurePolicy: FailurePolicy) {
  const counts: Redelivered[] = [];
  const unknown: { readonly delivery: Delivery; readonly error: unknown }[] = [];
  await Promise.all(
    deliveries.map(async (delivery) => {
      try {
        counts.push({ delivery, counts: await failurePolicy.counts(delivery) });
      } catch (error) {
        unknown.push({ delivery, error });
      }
    }),
  );
  return { known: counts, unknown };
}

/** Waits until the work is done, at most for the time that a message runs alone. */
async function aloneForAWhile(work: Promise<void>, { clock }: FailurePolicyPorts): Promise<void> {
  const over = new AbortController();
  const end = (): void => over.abort('over');
  work.then(end, end);
  await clock.sleep(aloneMs, over.signal);
}

interface Invisibility {
  /** Begins the turn of a message: hides it for the full visibility timeout. */
  beginTurn(delivery: Delivery): Promise<void>;
  /** Deletes a message from its queue, whatever happens to the others. */
  done(delivery: Delivery): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Keeps hidden the messages that still wait. `waiting` is the list of `inTurn`: a message leaves it when its turn begins. Errors of the
 * queue are ignored: at worst, a message is redelivered sooner or once more.
 */
async function keepInvisible(waiting: readonly Redelivered[], ports: FailurePolicyPorts): Promise<Invisibility> {
  const { queues, clock } = ports;
  const over = new AbortController();
  let last: Promise<void> = Promise.resolve();
  /** Runs changes of visibility in order, so that a message whose turn has begun is not hidden for the short time again. */
  const inOrder = (call: () => Promise<void>): Promise<void> => {
    last = last.then(call).catch(() => undefined);
    return last;
  };
  /** `release` sets the time until the messages are visible again. */
  const hold = (): Promise<void> =>
    inOrder(async () => {
      const byQueue = Map.groupBy(waiting, ({ delivery }) => delivery.queue);
      for (const [queue, list] of byQueue)
        await queues.release(
          queue,
          list.map(({ delivery }) => delivery.receipt),
          heldMs,
        );
    });
  const keepHolding = async (): Promise<void> => {
    while (waiting.length > 0 && !over.signal.aborted) {
      await clock.sleep(holdAgainMs, over.signal);
      if (!over.signal.aborted) await hold();
    }
  };

  await hold();
  const going = keepHolding();
  return {
    beginTurn: ({ queue, receipt }) => inOrder(() => queues.release(queue, [receipt], ports.visibilityMsOf(queue))),
    done: ({ queue, receipt }) => inOrder(() => queues.acknowledge(queue, [receipt])),
    async stop() {
      over.abort('over');
      await Promise.all([going, last]);
    },
  };
}
