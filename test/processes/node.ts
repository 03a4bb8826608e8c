import { openEmbedded } from '#adapters/sqlite/open';
import type { App } from '#authoring/workflow';
import type { Json } from '#core/data/json';
import { systemClock } from '#ports/clock';
import { createTelemetry } from '#ports/telemetry';
import { parseIncoming } from '#roles/scheduler/incoming';
import type { Lease } from '#roles/scheduler/lease';
import { readConfig } from '#runtime/config';
import { startHost } from '#runtime/host/host';
import { loadFunction } from '#runtime/host/load';
import { redriveIn, topologyOf } from '#runtime/topology';

/** One node of a farm. The test controls it over the channel between parent and child process. */
const { default: app } = (await import(process.env['REDRESS_APP'] ?? './app.ts')) as { readonly default: App };
const config = readConfig({ DEFAULT_WORKFLOW: 'line', ...process.env });
const clock = systemClock;
const telemetry = createTelemetry({ level: 'off' });
const { store, queues, publisher, keys, database } = openEmbedded(config.dataFolder, { clock, redriveOf: redriveIn(topologyOf(app)) });
const ports = {
  store,
  queues,
  publisher,
  keys,
  clock,
  telemetry,
  issuer: { issuer: 'none', audience: 'none', keys: { keys: [] } },
  cursorKey: new Uint8Array(32),
};
const host = await startHost({ app, config, ports, load: loadFunction, without: ['api', ...(process.env['WITHOUT'] ?? '').split(',')] });
const leases = new Map<string, Lease>();

const calls = {
  async submit(key: string, order: Json, workflow: string): Promise<string> {
    const submitted = await host.system.submit({ client: 'test', idempotencyKey: key, order, workflow });
    if (submitted.outcome !== 'accepted') throw new Error(JSON.stringify(submitted));
    return submitted.order.orderId;
  },
  async hold(orderId: string, leaseMs: number): Promise<void> {
    const lease = await host.hold(orderId, leaseMs);
    if (lease) leases.set(orderId, lease);
  },
  async release(orderId: string): Promise<void> {
    await leases.get(orderId)?.release();
  },
  async resubmit(orderId: string) {
    const instruction = { kind: 'resubmit', by: 'test', reason: 'the test wants it' } as const;
    const { outcome } = await host.system.scheduler.instruct(orderId, instruction, { id: crypto.randomUUID() });
    return { outcome, attempts: telemetry.counts()['lockAttempt'] };
  },
  /** Returns the counters of this node, such as its lost races. */
  counts: async () => telemetry.counts(),
  /** Processes a message as if it came from that queue. */
  async accept(queue: string, body: string): Promise<void> {
    const message = parseIncoming(body, queue);
    if (message) await host.system.scheduler.accept(message.orderId, [message.incoming], [{ queue, body }]);
  },
};
export type Calls = typeof calls;

process.on('message', ({ id, name, args }: { id: number; name: keyof Calls; args: readonly unknown[] }) => {
  const call = calls[name] as (...args: readonly unknown[]) => Promise<unknown>;
  call(...args).then(
    (result) => process.send?.({ id, result }),
    (error: Error) => process.send?.({ id, error: { ...error, name: error.name, message: error.message } }),
  );
});
process.on('SIGTERM', async () => {
  await host.stop();
  await database.close();
  process.exit(0);
});
process.stdout.write('ready\n');
