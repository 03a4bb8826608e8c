import type { Delivery } from '#ports/delivery';
import type { StoredFailureCount } from './failure-counts.ts';
import type { FailurePolicy, FailurePolicyPorts, StartedAttempt } from './outcome.ts';

/** Came before, and nobody knows why it was not processed: perhaps whoever was at it has died of it. */
export const isRedelivered = ({ receiveCount }: Delivery): boolean => receiveCount > 1;

interface Redelivered {
  readonly delivery: Delivery;
  readonly counts: StoredFailureCount;
}

/** What waits for its turn stays hidden for so long, again and again: when this process dies, others have it soon. */
const heldMs = 5_000;
const holdAgainMs = 2_000;
/** One that takes longer has company: it waits for something, and that kills nobody. */
const aloneMs = 2_000;

/**
 * Handles suspects one after the other, those last that have failed most. Each is counted as a failure before it is tried, so
 * that one which kills its process gives itself away, and takes nobody along. Resolves to those that are to come again.
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
    await holding?.letGo(delivery);
    let begun: StartedAttempt | undefined;
    try {
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
    await soonOver(work, ports);
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

/** Waits until it is over, but not for longer than it is to be alone. */
async function soonOver(work: Promise<void>, { clock }: FailurePolicyPorts): Promise<void> {
  const over = new AbortController();
  const end = (): void => over.abort('over');
  work.then(end, end);
  await clock.sleep(aloneMs, over.signal);
}

interface Invisibility {
  /** It is tried now: for as long as that may take, nobody else is to have it. */
  letGo(delivery: Delivery): Promise<void>;
  /** It does not come again, whatever becomes of the others. */
  done(delivery: Delivery): Promise<void>;
  stop(): Promise<void>;
}

/** Whether a queue hears of any of it changes only who waits for how long. */
async function keepInvisible(waiting: readonly Redelivered[], ports: FailurePolicyPorts): Promise<Invisibility> {
  const { queues, clock } = ports;
  const over = new AbortController();
  let last: Promise<void> = Promise.resolve();
  /** One after the other: what is let go must not be held again. */
  const inOrder = (call: () => Promise<void>): Promise<void> => {
    last = last.then(call).catch(() => undefined);
    return last;
  };
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
  const goOn = async (): Promise<void> => {
    while (waiting.length > 0 && !over.signal.aborted) {
      await clock.sleep(holdAgainMs, over.signal);
      if (!over.signal.aborted) await hold();
    }
  };

  await hold();
  const going = goOn();
  return {
    letGo: ({ queue, receipt }) => inOrder(() => queues.release(queue, [receipt], ports.visibilityMsOf(queue))),
    done: ({ queue, receipt }) => inOrder(() => queues.acknowledge(queue, [receipt])),
    async stop() {
      over.abort('over');
      await Promise.all([going, last]);
    },
  };
}
