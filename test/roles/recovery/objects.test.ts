import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, fault, operation, retry, scope, secret, sequence } from 'redress';
import * as z from 'zod';
import { documentItem } from '#adapters/aws/dynamodb/documents';
import { collections, type Document } from '#ports/documents';
import { StoreUnavailableError } from '#ports/errors';
import { queueNames } from '#ports/messages';
import { dayMs } from '#ports/util/days';
import { objectUseIn } from '#roles/recovery/objects';
import { outboxPauseMs } from '#roles/scheduler/deadlines';
import { type Desk, type DeskOptions, failed, journalOf, ok, openDesk, submitted, timePasses } from '../support.ts';

const Declined = fault('Declined');
const Goods = z.object({ lot: z.string(), pieces: z.number() });
const worker = defineAgent('worker', {
  book: operation({
    faults: [Declined],
    input: Goods,
    output: z.object({ shelf: z.number() }),
    writes: ['lot/{lot}', 'shelf/{shelf}'],
    run: () => ({ shelf: 7 }),
  }),
  look: operation({ input: Goods, output: z.object({}), reads: ['lot/{lot}'], run: () => ({}) }),
  count: operation({ faults: [Declined], input: Goods, output: z.object({}), run: () => ({}) }),
});
const Order = z.object({ lot: z.string(), note: secret(z.string()) });
const workflow = (steps: 'book' | 'look' | 'count') =>
  defineWorkflow(steps, { version: 1, order: Order, toOperator: [Declined] }, ({ order }) =>
    sequence(worker[steps]({ lot: order.lot, pieces: 10 }).noUndo()),
  );
const goods = (order: { readonly lot: never }) => ({ lot: order.lot, pieces: 10 });
/** Books, then fails to count, and does both again. */
const again = defineWorkflow('again', { version: 1, order: Order, toOperator: [Declined] }, ({ order }) => {
  const both = sequence(worker.book(goods(order as never)).noUndo(), worker.count(goods(order as never)).noUndo());
  return retry(both, { retries: 1, intervalSeconds: 1, only: [Declined] });
});
/** Goes on without the booking if it is declined. */
const without = defineWorkflow('without', { version: 1, order: Order }, ({ order }) =>
  scope('booking', worker.book(goods(order as never)).noUndo()).on(Declined, () => sequence()),
);
/** Passes a secret on to a field that is none. */
const careless = defineWorkflow('careless', { version: 1, order: Order }, ({ order }) =>
  sequence(worker.look({ lot: order.note as never, pieces: 1 }).noUndo()),
);
const app = defineApp({
  workflows: [workflow('book'), workflow('look'), workflow('count'), again, without, careless],
  agents: [worker],
});

async function ran(desk: Desk, name: string, lot = '4711', output: object = {}): Promise<string> {
  const orderId = await submitted(desk, { lot, note: 'the password is tea' }, { workflow: name });
  await desk.answer(await desk.request(), ok(output as never));
  return orderId;
}

const usesOf = async (desk: Desk, name: string) =>
  (await desk.store.documents(collections.object(name), undefined, 10)).map((each) => ({
    ...objectUseIn(each),
    expiresAt: each.expiresAt,
    rev: each.rev,
  }));

/** Collects the documents of objects that are put one by one, as on AWS. */
function counting() {
  const documents: Document[] = [];
  const around = ({ store }: Pick<Desk, 'store'>) => ({
    store: {
      ...store,
      putDocument: async (...all: Parameters<Desk['store']['putDocument']>) => {
        if (all[0].collection.startsWith('OBJ#')) documents.push(all[0]);
        return store.putDocument(...all);
      },
    },
  });
  return { documents, around };
}

/** Both ways in which the messages of a write leave the system: in its transaction, and after it. */
for (const writesAndSendsAtomically of [true, false])
  describe(`objects (${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, () => {
    const open = (context: TestContext, more: DeskOptions = {}) => openDesk(context, app, { writesAndSendsAtomically, ...more });

    test('F-151: a step that closes before its request, by the clock of another host, has used its objects from its close on', async (context) => {
      const desk = open(context);
      await submitted(desk, { lot: '4711', note: 'none' }, { workflow: 'look' });
      const request = await desk.request();
      await desk.clock.jump(-5000);
      await desk.answer(request, ok({}));
      const [{ requestedAt, at } = { at: 0 }] = await usesOf(desk, 'lot/4711');
      assert.deepEqual([requestedAt, at], [desk.clock.now(), desk.clock.now()]);
    });

    test('F-151: a step that closes leaves one record for each object that it has read or written, for seven days', async (context) => {
      const desk = open(context);
      const [book, look] = [await ran(desk, 'book', '4711', { shelf: 7 }), await ran(desk, 'look')];
      const at = desk.clock.now();
      const use = (orderId: string, path: string, use: string) => ({
        orderId,
        path,
        requestedAt: at,
        at,
        use,
        expiresAt: at + 7 * dayMs,
        rev: 1,
      });
      assert.deepEqual(await usesOf(desk, 'shelf/7'), [use(book, 'order/book', 'write')]);
      const ofLot = await usesOf(desk, 'lot/4711');
      assert.deepEqual(
        ofLot.toSorted((a, b) => (a.use < b.use ? 1 : -1)),
        [use(book, 'order/book', 'write'), use(look, 'order/look', 'read')],
      );
      const noted = (await journalOf(desk, book)).filter(({ type }) => type === 'ObjectsUsed');
      assert.partialDeepStrictEqual(noted, [{ path: 'order/book', writes: ['lot/4711', 'shelf/7'] }]);
    });

    test('F-151: a step of an operation that declares no objects leaves no line, no record and no outbox entry', async (context) => {
      const { documents, around } = counting();
      const desk = open(context, { around });
      const orderId = await ran(desk, 'count');
      assert.deepEqual((await desk.state(orderId)).outbox, []);
      assert.ok((await journalOf(desk, orderId)).every(({ type }) => type !== 'ObjectsUsed'));
      assert.deepEqual(documents, []);
    });
  });

test('F-151, S26: an order keeps what its step has used until the store has the records', async (context) => {
  let isAway = true;
  const desk = openDesk(context, app, {
    writesAndSendsAtomically: false,
    around: ({ store }) => ({
      store: {
        ...store,
        putDocument: async (document, ...rest) => {
          if (isAway && document.collection.startsWith('OBJ#'))
            throw new StoreUnavailableError('The store throttles.', { fatal: false, throttled: true });
          return store.putDocument(document, ...rest);
        },
      },
    }),
  });
  const orderId = await ran(desk, 'look');
  assert.deepEqual(
    (await desk.state(orderId)).outbox.map(({ kind }) => kind),
    ['objects'],
  );
  assert.deepEqual(await usesOf(desk, 'lot/4711'), []);
  isAway = false;
  await desk.clock.advance(60_000);
  await timePasses(desk.clock, desk.supervisor.pass());
  await desk.deliver(queueNames.wakeUps);
  assert.equal((await usesOf(desk, 'lot/4711')).length, 1);
  assert.deepEqual((await desk.state(orderId)).outbox, []);
});

test('F-151: the name of an object that is too long for a key ends in a hash, equal for equal names', async (context) => {
  const desk = openDesk(context, app);
  const lot = 'x'.repeat(5000);
  const orders = [await ran(desk, 'book', lot, { shelf: 7 }), await ran(desk, 'look', lot)];
  const names = (await Promise.all(orders.map((orderId) => journalOf(desk, orderId)))).flatMap((journal) =>
    journal.flatMap((fact) => (fact.type === 'ObjectsUsed' ? [(fact.writes ?? fact.reads ?? [])[0]] : [])),
  );
  assert.equal(names.length, 2);
  assert.equal(names[0], names[1]);
  assert.ok((names[0] ?? '').length <= 256);
});

const usedIn = async (desk: Desk, orderId: string) => (await journalOf(desk, orderId)).filter(({ type }) => type === 'ObjectsUsed').length;

test('F-151: a step that is refused has used nothing, and a success that a retry reuses has used its objects once', async (context) => {
  const desk = openDesk(context, app);
  const refused = await submitted(desk, { lot: '1', note: 'n' }, { workflow: 'without' });
  await desk.answer(await desk.request(), failed('Declined'));
  assert.deepEqual([(await desk.state(refused)).outcome, await usedIn(desk, refused)], ['completed', 0]);

  const retried = await ran(desk, 'again', '4711', { shelf: 7 });
  await desk.answer(await desk.request(), failed('Declined'));
  await desk.clock.advance(5000);
  await desk.deliver(queueNames.wakeUps);
  await desk.answer(await desk.request(), ok({}));
  assert.deepEqual([(await desk.state(retried)).outcome, await usedIn(desk, retried)], ['completed', 1]);
});

test('F-151: a skipped step has used its objects only if a person has done it by hand', async (context) => {
  const desk = openDesk(context, app);
  for (const [effect, expected] of [
    ['none', 0],
    ['done', 1],
  ] as const) {
    const orderId = await submitted(desk, { lot: '4711', note: 'n' }, { workflow: 'book' });
    await desk.answer(await desk.request(), failed('Declined'));
    const skip = { kind: 'skip', by: 'olga', reason: 'by hand', output: { shelf: 7 }, effect } as const;
    await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, skip, { id: effect }));
    assert.deepEqual([(await desk.state(orderId)).outcome, await usedIn(desk, orderId)], ['completed', expected], effect);
  }
});

test('F-151: a secret that a workflow passes on to another field is never part of the name of an object', async (context) => {
  const desk = openDesk(context, app);
  const orderId = await ran(desk, 'careless');
  assert.deepEqual([(await desk.state(orderId)).outcome, await usedIn(desk, orderId)], ['completed', 0]);
});

test('F-151: a step costs one request and one write unit of DynamoDB for each object', async (context) => {
  const { documents, around } = counting();
  await ran(openDesk(context, app, { writesAndSendsAtomically: false, around }), 'book', 'x'.repeat(5000), { shelf: 7 });
  assert.equal(documents.length, 2);
  for (const document of documents) assert.ok(JSON.stringify(documentItem(document)).length < 1024, document.id);
});

test('F-151: records of objects do not move their order in the worklist, which would cost two write units', () => {
  const entry = {
    id: 'o',
    kind: 'objects',
    orderId: 'ord_a',
    path: 'order/book',
    closedAt: 1000,
    seq: 7,
    reads: [],
    writes: ['lot/1'],
  } as const;
  const status = { id: 's', kind: 'status', channel: 'c', message: { at: new Date(1000).toISOString() } } as const;
  assert.deepEqual([outboxPauseMs([entry], 1000), outboxPauseMs([entry, status], 1000)], [60_000, 10_000]);
});
