import { openAws } from '#adapters/aws/open';
import type { JsonObject } from '#core/data/json';
import type { Queues, Received } from '#ports/queues';
import { topologyOf } from '#runtime/topology';
import { registerClient } from '#testing/world/register-client';
import { deploy } from '../../adapters/aws/deploy.ts';
import { clientsAt, createQueue, newName } from '../../adapters/aws/support.ts';
import { type Emulator, type EventBus, type Fauxqs, startDynoxide, startEventBus, startFauxqs } from '../../support/emulators.ts';
import type { OpenPlace } from '../place.ts';
import { openHosted } from './hosted.ts';
import { SteppedClock } from './stepped-clock.ts';

export interface AwsServers {
  readonly open: OpenPlace;
  stop(): Promise<unknown>;
}

/** Servers that speak AWS's protocols; the clock of SQS stops until the test advances it. */
export async function startAwsServers(startDynamoDb: () => Promise<Emulator> = startDynoxide): Promise<AwsServers> {
  const [dynamodb, sqs, bus] = await Promise.all([startDynamoDb(), startFauxqs({ start: Date.UTC(2026, 0, 1) }), startEventBus()]);
  return { open: openAt(dynamodb, sqs, bus), stop: () => Promise.all([dynamodb.stop(), sqs.stop(), bus.stop()]) };
}

/** A deployment for one scenario. */
const openAt =
  (dynamodb: Emulator, fauxqs: Fauxqs, bus: EventBus): OpenPlace =>
  async (played) => {
    const endpoints = { dynamodb: dynamodb.endpoint, sqs: fauxqs.endpoint, eventbridge: bus.endpoint };
    const clock = new SteppedClock(fauxqs.now());
    const deployment = { ...(await deploy(played.app, endpoints)), bus: newName() };
    // A client's queue has no prefix, but belongs to this scenario alone.
    const responses = `${played.responses}-${deployment.bus}`;
    await createQueue(clientsAt(endpoints).sqs, '', responses, undefined);
    const { store, publisher, queues: sqs, close } = openAws(deployment, { clock, endpoints });
    const named = (queue: string): string => (queue === played.responses ? responses : queue);
    const channel = new PatientChannel(
      { ...sqs, send: (messages) => sqs.send(messages.map((each) => ({ ...each, queue: named(each.queue) }))) },
      clock,
    );
    for (const { sources } of topologyOf(played.app)) for (const { queue } of sources) channel.watch(queue);
    await registerClient(store, { id: 'client', responseChannels: [played.responses], senders: ['local'] });
    return openHosted(
      {
        clock,
        store,
        publisher,
        queues: channel,
        next: () => channel.next(),
        async moveTo(time) {
          if (time > fauxqs.now()) await fauxqs.advance(time - fauxqs.now());
          await channel.look();
        },
        bodies: (queue) => allOn(sqs, named(queue)),
        announced: () =>
          bus.arrived
            .filter(({ EventBusName }) => EventBusName === deployment.bus)
            .map(({ DetailType, Detail = '{}' }) => {
              const detail = JSON.parse(Detail) as JsonObject & { readonly id: string };
              return { id: detail.id, detailType: DetailType as never, detail };
            }),
        close: async () => close(),
      },
      played,
    );
  };

async function allOn(queues: Queues, queue: string): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  for (;;) {
    const received = await queues.receive(queue, { max: 10, visibilityMs: 3_600_000, waitMs: 0 });
    if (received.length === 0) return found;
    found.push(...received.map(({ body }) => JSON.parse(body) as JsonObject));
  }
}

interface Waiter {
  readonly max: number;
  readonly visibilityMs: number;
  readonly take: (messages: readonly Received[]) => void;
}

/**
 * Waits in place of the host, and polls SQS only when a message may have arrived: it knows each send and its time. So
 * the time advances from one event to the next, not from one empty poll to the next.
 */
class PatientChannel implements Queues {
  private readonly queues: Queues;
  private readonly clock: SteppedClock;
  private readonly waiters = new Map<string, Waiter[]>();
  /** The next time to poll each queue. */
  private readonly looks = new Map<string, Set<number>>();

  constructor(queues: Queues, clock: SteppedClock) {
    this.queues = queues;
    this.clock = clock;
  }

  watch(queue: string): void {
    this.waiters.set(queue, []);
    this.looks.set(queue, new Set());
  }

  next(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const [queue, times] of this.looks) if (this.waiters.get(queue)?.length) for (const at of times) if (at < next) next = at;
    return next;
  }

  async look(): Promise<void> {
    await Promise.all([...this.looks].map(([queue, times]) => this.lookAt(queue, times)));
  }

  private async lookAt(queue: string, times: Set<number>): Promise<void> {
    const now = this.clock.now();
    const due = [...times].filter((at) => at <= now);
    const waiters = this.waiters.get(queue) ?? [];
    while (due.length > 0) {
      const waiter = waiters.shift();
      if (!waiter) return;
      const messages = await this.queues.receive(queue, { max: waiter.max, visibilityMs: waiter.visibilityMs, waitMs: 0 });
      if (messages.length === 0) {
        waiters.unshift(waiter);
        for (const at of due) times.delete(at);
        return;
      }
      // A message without acknowledgement is redelivered by then, here or in the dead-letter queue.
      this.note(queue, waiter.visibilityMs);
      this.note(`${queue}-dead`, waiter.visibilityMs + 1);
      waiter.take(messages);
    }
  }

  private note(queue: string, afterMs: number): void {
    this.looks.get(queue)?.add(this.clock.now() + Math.ceil(afterMs / 1000) * 1000);
  }

  // Properties, so that a wrapper of a channel copies them.
  readonly send: Queues['send'] = async (messages) => {
    await this.queues.send(messages);
    for (const { queue, delayMs = 0 } of messages) this.note(queue, delayMs);
  };

  readonly receive: Queues['receive'] = (queue, { max, visibilityMs, signal }) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve([]);
      const waiters = this.waiters.get(queue) ?? [];
      const giveUp = () => {
        const at = waiters.indexOf(waiter);
        if (at < 0) return;
        waiters.splice(at, 1);
        resolve([]);
      };
      const take = (messages: readonly Received[]) => {
        signal?.removeEventListener('abort', giveUp);
        resolve(messages);
      };
      const waiter = { max, visibilityMs, take };
      waiters.push(waiter);
      signal?.addEventListener('abort', giveUp, { once: true });
    });

  readonly acknowledge: Queues['acknowledge'] = (queue, receipts) => this.queues.acknowledge(queue, receipts);

  readonly release: Queues['release'] = async (queue, receipts, afterMs) => {
    await this.queues.release(queue, receipts, afterMs);
    this.note(queue, afterMs);
  };

  readonly depth: Queues['depth'] = (queue) => this.queues.depth(queue);
}
