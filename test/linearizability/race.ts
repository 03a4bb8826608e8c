import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '#adapters/sqlite/open';
import { systemClock } from '#ports/clock';
import type { Queues } from '#ports/queues';
import type { OrderRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { createTelemetry } from '#ports/telemetry';
import { loadDefinitions } from '#roles/definitions/load';
import { createScheduler, type Scheduler } from '#roles/scheduler/scheduler';
import { appOn } from '../search/app.ts';
import { isLinearizable } from './linearizable.ts';
import { noting, type RecordOperation, recordFrom, type Version, versionOf } from './record.ts';

const orderIdOf = (number: number): string => `ord_race_${number}`;

const orderRecord = (number: number): OrderRecord => ({
  orderId: orderIdOf(number),
  client: 'client',
  workflow: { name: 'by-step', version: 1 },
  body: { item: 'tea' },
  hash: 'hash',
  submittedAt: Date.now(),
  answer: '{}',
});

const nowhere: Pick<Queues, 'send'> = { send: async () => {} };

/** A host that may claim orders. Its messages are dropped. */
export const hostOn = (store: Store, hostId: string): Scheduler =>
  createScheduler({
    store,
    queues: nowhere as Queues,
    publisher: { publish: async () => ({ failed: [] }) },
    clock: systemClock,
    telemetry: createTelemetry({ level: 'off' }),
    definitions: loadDefinitions(appOn(async () => 'done')),
    hostId,
  });

/** Creates orders that no host has claimed. */
async function submit(store: Store, orders: number): Promise<void> {
  const host = hostOn(store, 'submission');
  const all = Array.from({ length: orders }, (_, number) => orderRecord(number));
  await Promise.all(all.map((order) => host.create(order, { claim: false, stepMs: 600_000, maxFailures: 3 })));
}

/** Has every host try to claim each of these orders, all at the same moment. */
export async function raceFor(hosts: readonly Scheduler[], from: number, to: number): Promise<void> {
  for (let number = from; number < to; number++)
    await Promise.all(hosts.map((host, index) => host.accept(orderIdOf(number), [{ id: `wake-up ${index}`, type: 'wake-up' }], [])));
}

/** The result of a race. */
export interface Raced {
  readonly racers: number;
  readonly orders: number;
  /** Claims that were written, for all orders. */
  readonly winners: number;
  /** Orders without exactly one claim. */
  readonly wrong: readonly string[];
  /** Claims that were refused because another one was faster. */
  readonly losers: number;
  readonly operations: number;
  /** Orders with a history that is not linearizable. */
  readonly notLinearizable: readonly string[];
}

/** Counts the winners, and checks each order's history. `firsts`: the records before the race. */
function judge(racers: number, firsts: ReadonlyMap<string, Version>, operations: readonly RecordOperation[]): Raced {
  const histories = Map.groupBy(operations, ({ orderId }) => orderId);
  const claims = operations.filter(({ input }) => input.type === 'write' && input.to.epoch === input.when.epoch + 1);
  const won = Map.groupBy(
    claims.filter(({ output }) => output?.written),
    ({ orderId }) => orderId,
  );
  const ids = [...firsts.keys()];
  return {
    racers,
    orders: ids.length,
    winners: [...won.values()].flat().length,
    wrong: ids.filter((id) => won.get(id)?.length !== 1),
    losers: claims.filter(({ output }) => output?.written === false).length,
    operations: operations.length,
    notLinearizable: [...firsts].flatMap(([id, first]) => (isLinearizable(histories.get(id) ?? [], recordFrom(first)) ? [] : [id])),
  };
}

async function firstsOf(store: Store, orders: number): Promise<ReadonlyMap<string, Version>> {
  const ids = Array.from({ length: orders }, (_, number) => orderIdOf(number));
  const heads = await Promise.all(ids.map((id) => store.head(id)));
  return new Map(heads.flatMap((head) => (head ? [[head.orderId, versionOf(head)] as const] : [])));
}

/** Races in this process, each racer with its own store. */
export async function raceOfClients(stores: readonly Store[], orders: number): Promise<Raced> {
  const [first] = stores;
  if (!first) throw new Error('Nobody races.');
  await submit(first, orders);
  const firsts = await firstsOf(first, orders);
  const operations: RecordOperation[] = [];
  const hosts = stores.map((store, index) =>
    hostOn(
      noting(store, (operation) => operations.push(operation)),
      `client-${index}`,
    ),
  );
  await raceFor(hosts, 0, orders);
  return judge(stores.length, firsts, operations);
}

/** Number of orders in a round: then all processes wait for each other, so that none runs ahead. */
const heat = 10;

/** Races several processes on one data folder, each racer with its own connection. */
export async function raceOfProcesses(
  folder: string,
  { orders, processes, racersEach }: { readonly orders: number; readonly processes: number; readonly racersEach: number },
): Promise<Raced> {
  const embedded = openEmbedded(folder, { clock: systemClock });
  await submit(embedded.store, orders);
  const firsts = await firstsOf(embedded.store, orders);
  await embedded.database.close();
  const file = fileURLToPath(new URL('./racer.ts', import.meta.url));
  const children = Array.from({ length: processes }, (_, index) => fork(file, [folder, String(racersEach), `process-${index}`]));
  try {
    await Promise.all(children.map((child) => answerOf(child)));
    for (let from = 0; from < orders; from += heat)
      await Promise.all(children.map((child) => ask(child, { from, to: Math.min(orders, from + heat) })));
    const noted = await Promise.all(children.map((child) => ask(child, 'end')));
    return judge(processes * racersEach, firsts, noted.flat() as RecordOperation[]);
  } finally {
    for (const child of children) child.kill();
  }
}

async function ask(child: ChildProcess, message: object | string): Promise<unknown> {
  const answer = answerOf(child);
  child.send(message);
  return answer;
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`A racer ended with ${code}.`);
  });
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
  ended.catch(() => undefined);
  return message;
}
