import type { App } from '#authoring/workflow';
import { type Clock, systemClock } from '#ports/clock';
import { SetupError } from '#ports/errors';
import { queueNames } from '#ports/messages';
import type { Queues } from '#ports/queues';
import { createTelemetry } from '#ports/telemetry';
import { channelState } from '#roles/channels/state';
import { recordDefinitions } from '#roles/definitions/recorded-definitions';
import type { Config } from '#runtime/config';
import { topologyOf } from '#runtime/topology';
import { startHost } from './host.ts';
import { loadFunction } from './load.ts';
import { openPorts } from './ports.ts';

export interface ConsumeOptions {
  readonly app: App;
  readonly consumer: string;
  readonly config: Config;
  readonly environment: { readonly [name: string]: string | undefined };
  /** The run ends when the queue has been empty for this time, in milliseconds. */
  readonly idleMs: number;
  readonly clock?: Clock;
}

/** The end of a run. `idle`: no message is left. `closed`: the channel is closed, so its messages wait. */
export interface Consumed {
  readonly ended: 'idle' | 'closed';
  /** Messages that became dead letters. */
  readonly deadLetters: number;
}

const lookEveryMs = 50;
const noIssuer = { issuer: { issuer: 'none', audience: 'none', keys: { keys: [] } }, cursorKey: new Uint8Array(32) };

/**
 * Handles the messages of one consumer in this process until its queue has been empty for `idleMs`. Other processes of the system may run
 * meanwhile, or not.
 *
 * @throws SetupError if the app has no such consumer.
 */
export async function consumeUntilIdle(options: ConsumeOptions): Promise<Consumed> {
  const { app, consumer, config, environment, idleMs, clock = systemClock } = options;
  const names = (app.consumers ?? []).map(({ name }) => name);
  if (!names.includes(consumer))
    throw new SetupError(
      `The app has no consumer "${consumer}".`,
      names.length > 0 ? `Name one of: ${names.join(', ')}.` : 'Declare it in the app with defineConsumer.',
    );
  const { close, ...opened } = await openPorts({ app, config, environment, clock });
  const telemetry = createTelemetry({ level: config.logLevel, format: 'text', auditLines: false });
  await recordDefinitions(app.workflows, opened.store, { mayReplace: config.adapters === 'embedded' });
  const without = topologyOf(app).flatMap(({ name }) => (name === `consumer-${consumer}` || name === 'dead-letter' ? [] : [name]));
  const queue = queueNames.messages(consumer);
  let idleSince = clock.now();
  const queues = reportingQueues(opened.queues, queue, () => (idleSince = clock.now()));
  const ports = { ...opened, ...noIssuer, queues, clock, telemetry };
  const host = await startHost({ app, config, ports, load: loadFunction, without });
  try {
    for (; ; await clock.sleep(lookEveryMs)) {
      const isBusy = (await waiting(queues, queue)) + (await waiting(queues, queueNames.deadLetters(queue))) > 0;
      if (isBusy) idleSince = clock.now();
      const isClosed = (await channelState(consumer, opened.store))?.state === 'closed';
      if (isClosed || clock.now() - idleSince >= idleMs)
        return { ended: isClosed ? 'closed' : 'idle', deadLetters: telemetry.counts()['messageDeadLettered'] ?? 0 };
    }
  } finally {
    await host.stop();
    await close();
  }
}

/**
 * Returns queues that report each handled message of the queue `watched`. The depth of a queue, which is read at intervals, shows no
 * message that comes and is handled in between.
 */
const reportingQueues = (queues: Queues, watched: string, report: () => void): Queues => ({
  ...queues,
  async acknowledge(queue, receipts) {
    await queues.acknowledge(queue, receipts);
    if (queue === watched) report();
  },
});

/** Returns the number of messages of a queue, including those that are being handled or wait for their next delivery. */
async function waiting(queues: Pick<Queues, 'depth'>, queue: string): Promise<number> {
  const { visible, inFlight, delayed } = await queues.depth(queue);
  return visible + inFlight + delayed;
}
