import type { Delivery } from '#ports/delivery';
import type { Tracked } from './failure-counts.ts';
import type { Begun, Judge, JudgePorts } from './outcome.ts';

/** Came before, and nobody knows why it was not processed: perhaps whoever was at it has died of it. */
export const isSuspect = ({ receiveCount }: Delivery): boolean => receiveCount > 1;

interface Suspect {
  readonly delivery: Delivery;
  readonly known: Tracked;
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
  judge: Judge,
  ports: JudgePorts,
): Promise<readonly Delivery[]> {
  const again: Delivery[] = [];
  const { known, unknown } = await knownOf(deliveries, judge);
  for (const { delivery, error } of unknown) if (await judge.failed(delivery, error)) again.push(delivery);
  const waiting = known.toSorted((a, b) => failuresOf(a) - failuresOf(b));
  const holding = waiting.length > 1 ? await startHolding(waiting, ports) : undefined;

  async function tryOne({ delivery, known: before }: Suspect): Promise<void> {
    await holding?.letGo(delivery);
    let begun: Begun | undefined;
    try {
      begun = await judge.begin(delivery, before);
      if (begun) await handle(delivery);
    } catch (error) {
      if (await judge.failed(delivery, error, begun)) again.push(delivery);
      else await holding?.done(delivery);
      return;
    }
    if (begun) await judge.succeeded(delivery, begun);
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

const failuresOf = ({ known }: Suspect): number => known.track?.failures ?? 0;

async function knownOf(deliveries: readonly Delivery[], judge: Judge) {
  const known: Suspect[] = [];
  const unknown: { readonly delivery: Delivery; readonly error: unknown }[] = [];
  await Promise.all(
    deliveries.map(async (delivery) => {
      try {
        known.push({ delivery, known: await judge.known(delivery) });
      } catch (error) {
        unknown.push({ delivery, error });
      }
    }),
  );
  return { known, unknown };
}

/** Waits until it is over, but not for longer than it is to be alone. */
async function soonOver(work: Promise<void>, { clock }: JudgePorts): Promise<void> {
  const over = new AbortController();
  const end = (): void => over.abort('over');
  work.then(end, end);
  await clock.sleep(aloneMs, over.signal);
}

interface Holding {
  /** It is tried now: for as long as that may take, nobody else is to have it. */
  letGo(delivery: Delivery): Promise<void>;
  /** It does not come again, whatever becomes of the others. */
  done(delivery: Delivery): Promise<void>;
  stop(): Promise<void>;
}

/** Whether a queue hears of any of it changes only who waits for how long. */
async function startHolding(waiting: readonly Suspect[], ports: JudgePorts): Promise<Holding> {
  const { channel, clock } = ports;
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
        await channel.release(
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
    letGo: ({ queue, receipt }) => inOrder(() => channel.release(queue, [receipt], ports.visibilityMsOf(queue))),
    done: ({ queue, receipt }) => inOrder(() => channel.acknowledge(queue, [receipt])),
    async stop() {
      over.abort('over');
      await Promise.all([going, last]);
    },
  };
}
