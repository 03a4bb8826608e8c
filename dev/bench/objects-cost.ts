import { defineAgent, defineApp, defineConsumer, defineWorkflow, messageType, operation, sequence } from 'redress';
import * as z from 'zod';
import { type MeterEntry, totalOf } from '#adapters/aws/meter';
import { queueNames } from '#ports/messages';
import { type Invoked, openInvoked } from '../../test/adapters/aws/invocations.ts';
import { startDynoxide } from '../../test/support/emulators.ts';
import { withEmulators } from './emulated.ts';
import { mustHaveEnded, nextKey } from './played.ts';

/**
 * The cost on AWS of objects, of locks and of messages of consumers: write units and requests for each order or message. The
 * functions run on emulators, which count them. `BENCH_OBJECTS_COST=100` sets the number of orders for each figure.
 */
const count = Number(process.env['BENCH_OBJECTS_COST'] ?? 20);
const Lot = z.object({ lot: z.string() });
const none = z.object({});
const run = () => ({});
const objectsMax = 16;
const names = (length: number) => Array.from({ length }, (_, index) => `lot/{lot}/${String(index).padStart(2, '0')}` as const);
const worker = defineAgent('worker', {
  plain: operation({ input: Lot, output: none, run }),
  reads: operation({ input: Lot, output: none, reads: names(1), run }),
  writes: operation({ input: Lot, output: none, writes: names(1), run }),
  both: operation({ input: Lot, output: none, reads: names(1), writes: names(1), run }),
  most: operation({ input: Lot, output: none, reads: names(objectsMax), run }),
});
type Operation = keyof typeof objects;
const objects = { plain: 0, reads: 1, writes: 1, both: 2, most: objectsMax };
/** The place of the step with the objects: the first or the last of two steps. */
const places = ['first', 'last'] as const;
type Place = (typeof places)[number];
const workflowOf = (name: Operation, place: Place) =>
  defineWorkflow(`${name}-${place}`, { version: 1, order: Lot }, ({ order }) => {
    const step = worker[name]({ lot: order.lot }).named('uses').noUndo();
    const other = worker.plain({ lot: order.lot }).named('plain').noUndo();
    return place === 'first' ? sequence(step, other) : sequence(other, step);
  });
const notes = defineConsumer('notes', { note: messageType({ body: Lot, handle: () => undefined }) });
const app = defineApp({
  workflows: (Object.keys(objects) as Operation[]).flatMap((name) => places.map((place) => workflowOf(name, place))),
  agents: [worker],
  consumers: [notes],
});

interface Cost {
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly tableRequests: number;
  readonly queueRequests: number;
}

/** Returns what each of several items costs. */
function costOf(entries: readonly MeterEntry[], items: number): Cost {
  const { writeUnits, readUnits } = totalOf(entries);
  const requestsTo = (service: string) => totalOf(entries.filter((entry) => entry.service === service)).requests;
  return {
    writeUnits: writeUnits / items,
    readUnits: readUnits / items,
    tableRequests: requestsTo('DynamoDB') / items,
    queueRequests: requestsTo('SQS') / items,
  };
}

/** Subtracts, and rounds: each process reads settings of the system every few seconds, so a few orders have one more read. */
const more = (cost: Cost, than: Cost): Cost => ({
  writeUnits: Math.round(cost.writeUnits - than.writeUnits),
  readUnits: Math.round(cost.readUnits - than.readUnits),
  tableRequests: Math.round(cost.tableRequests - than.tableRequests),
  queueRequests: Math.round(cost.queueRequests - than.queueRequests),
});

const print = (row: object): void => void process.stdout.write(`${JSON.stringify({ bench: 'objects-cost', ...row })}\n`);

const submit = (invoked: Invoked, workflow: string): Promise<string> => {
  const key = nextKey();
  return invoked.submit(key, { workflow, order: { lot: key } });
};

/** Plays orders of one workflow, one after the other. `meanwhile`: what a person does while the step is at work. */
async function played(invoked: Invoked, workflow: string, meanwhile = async (_: string): Promise<void> => undefined): Promise<Cost> {
  invoked.reset();
  const orderIds: string[] = [];
  for (let index = 0; index < count; index++) {
    const orderId = await submit(invoked, workflow);
    await meanwhile(orderId);
    await invoked.settle();
    orderIds.push(orderId);
  }
  const cost = costOf(invoked.meter.entries(), count);
  for (const orderId of orderIds) await mustHaveEnded(invoked, orderId, 'completed');
  return cost;
}

async function printObjects(invoked: Invoked): Promise<Cost> {
  const plain = await played(invoked, 'plain-first');
  print({ item: 'an order of two steps, whose operations name no object', orders: count, ...plain });
  for (const place of places)
    for (const operation of ['reads', 'writes', 'both', 'most'] as const) {
      const cost = await played(invoked, `${operation}-${place}`);
      const added = more(cost, plain);
      const number = objects[operation];
      const met = added.writeUnits <= number && added.tableRequests <= number;
      print({ item: `the same, whose ${place} step uses ${number} (${operation})`, ...cost, moreThanPlain: added, budget: number, met });
    }
  return plain;
}

async function printLocks(invoked: Invoked, plain: Cost): Promise<void> {
  const { locking } = invoked.system.scheduler;
  const lock = (orderId: string) => locking.lock(orderId, { id: `lock/${orderId}`, by: 'bench', seconds: 60, reason: 'bench' });
  const unlock = (orderId: string) => locking.unlock(orderId, { id: `unlock/${orderId}`, by: 'bench', anyones: false });
  const locked = await played(invoked, 'plain-first', async (orderId) => {
    await lock(orderId);
    await unlock(orderId);
  });
  print({ item: 'an order that a person locks and unlocks', ...locked, moreThanPlain: more(locked, plain) });
  const kept = await played(invoked, 'plain-first', async (orderId) => {
    await lock(orderId);
    // The answer of the step arrives while the order is locked, so the system keeps it until the lock ends.
    await invoked.settle();
    await unlock(orderId);
  });
  print({ item: 'the same, if an answer meets the lock', ...kept, moreThanPlain: more(kept, plain) });
  const other = await submit(invoked, 'plain-first');
  await lock(other);
  const beside = await played(invoked, 'plain-first');
  const added = more(beside, plain);
  print({
    item: 'an order that nobody locks, beside a locked one',
    ...beside,
    moreThanPlain: added,
    met: Object.values(added).every((each) => each === 0),
  });
  await unlock(other);
  await invoked.settle();
}

/** Compares a message of a consumer with a request of an agent. The reply of the agent is the difference. */
async function printMessages(invoked: Invoked): Promise<void> {
  const costFor = (file: string, messages: number): Cost => {
    const own = costOf(
      invoked.meter.entries().filter(({ role }) => role === file),
      messages,
    );
    // Lambda makes two more requests per message for the function: it receives the message, and deletes it.
    return { ...own, queueRequests: own.queueRequests + 2 };
  };
  await played(invoked, 'plain-first');
  const agent = costFor('agent', 2 * count);
  print({ item: 'a request of an agent, with its reply', ...agent });
  invoked.reset();
  for (let index = 0; index < count; index++) {
    const body = JSON.stringify({ v: 1, type: 'note', conversation: `c-${index}`, body: { lot: 'l' } });
    await invoked.system.queues.send([{ queue: queueNames.messages('notes'), body }]);
    await invoked.settle();
  }
  const consumer = costFor('consumer', count);
  const added = more(consumer, agent);
  print({ item: 'a message of a consumer', ...consumer, moreThanAgent: added, met: Object.values(added).every((each) => each <= 0) });
}

await withEmulators(startDynoxide, async (endpoints) => {
  const invoked = await openInvoked({ app, endpoints });
  // Each process looks up its queues once.
  await submit(invoked, 'plain-first');
  await invoked.settle();
  const plain = await printObjects(invoked);
  await printLocks(invoked, plain);
  await printMessages(invoked);
  invoked.close();
});
