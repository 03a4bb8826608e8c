import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from 'redress';
import { collections } from '#ports/documents';
import { deadLetterIn } from '#roles/dead-letters/dead-letter';
import { treat } from '#roles/dead-letters/resubmit';
import { registerClient } from '#testing/world/register-client';
import defaultApp, { expensesApp } from '../../examples/expenses/app.ts';
import { type Books, createBooks } from '../../examples/expenses/books.ts';
import { root, site, startLocal, until } from '../processes/support.ts';
import { Mail } from '../same-history/mail.ts';
import { type Place, responses } from '../same-history/place.ts';
import { places } from '../same-history/places/index.ts';
import { Services } from '../same-history/services.ts';

const address = { client: 'client', responseChannel: responses };
/** The account of the emulator, which it reports as the sender of each message. */
const senderAtEmulator = '000000000000';
const error500 = { v: 1, type: 'error', code: 500, message: 'Unable to process message.' };

for (const name of ['embedded', 'aws'] as const)
  describe(`the processors of expense reports, on the ports ${name}`, () => {
    let opened: Awaited<ReturnType<(typeof places)[typeof name]>>;
    before(async () => {
      opened = await places[name]();
    });
    after(() => opened.stop());

    async function placeWith(change: Partial<Books> = {}): Promise<Place & { readonly books: Books }> {
      const books = { ...createBooks(), ...change };
      const nothing = { mail: [], answers: {} };
      const played = { app: expensesApp(books), variables: {}, services: new Services(nothing), mail: new Mail(nothing), responses };
      const place = await opened.open(played);
      await registerClient(place.store, { id: address.client, responseChannels: [responses], senders: ['local', senderAtEmulator] });
      return Object.assign(place, { books });
    }
    const send = (place: Place, consumer: string, type: string, body: object, more: object = {}) =>
      place.send(`${consumer}-messages`, JSON.stringify({ v: 1, type, body, ...address, ...more }));
    const lettersOf = async ({ store }: Place, consumer: string) =>
      (await store.documents(collections.deadLetters(consumer), undefined, 10)).map(deadLetterIn);
    const errorsIn = async (place: Place) =>
      (await place.bodies(responses)).map(({ at: _, deadLetter: __, ...error }: JsonObject) => error);

    test('F-116, F-174: an unreadable report, and one with a number out of range, are dead-lettered at once, and the sender gets error 500', async () => {
      const place = await placeWith();
      await send(place, 'expenses', 'expense-report', { amount: 12 }, { conversation: 'report-1' });
      await send(place, 'expenses', 'expense-report', { employeeId: 100_000, amount: 12 }, { conversation: 'report-2' });
      await place.pass(5_000);
      const letters = await lettersOf(place, 'expenses');
      assert.deepEqual(
        letters.map(({ failures }) => failures),
        [1, 1],
      );
      assert.deepEqual(
        (await errorsIn(place)).toSorted((a, b) => String(a['conversation']).localeCompare(String(b['conversation']))),
        [
          { ...error500, consumer: 'expenses', conversation: 'report-1' },
          { ...error500, consumer: 'expenses', conversation: 'report-2' },
        ],
      );
      await place.close();
    });

    test('F-117, F-174: an expense report whose employee is not yet in the directory becomes an order on its third delivery', async () => {
      let asked = 0;
      const place = await placeWith({ isEmployee: () => ++asked === 3 });
      await send(place, 'expenses', 'expense-report', { employeeId: 8, amount: 12 }, { conversation: 'report-1' });
      await place.pass(90_000);
      assert.deepEqual([asked, await lettersOf(place, 'expenses')], [3, []]);
      const [order] = (await place.store.list({ client: 'expenses' }, undefined, 10)).items;
      assert.deepEqual([order?.order.workflow.name, order?.order.body], ['reimburse', { employeeId: 8, amount: 12 }]);
      await place.close();
    });

    test('F-111, F-174: a report of an employee who never enters the directory is dead-lettered on its fourth failure', async () => {
      const place = await placeWith();
      await send(place, 'expenses', 'expense-report', { employeeId: 8, amount: 12 }, { conversation: 'report-1' });
      await place.pass(180_000);
      assert.deepEqual(
        (await lettersOf(place, 'expenses')).map(({ failures }) => failures),
        [4],
      );
      assert.deepEqual(await errorsIn(place), [{ ...error500, consumer: 'expenses', conversation: 'report-1' }]);
      await place.close();
    });

    test('F-108, F-174: a receipt that crashes its process is dead-lettered on its fifth delivery, and the next receipt is handled', async () => {
      let crashes = 0;
      let isCrashed = false;
      const totalOn = (picture: string): number => {
        if (picture !== 'deadly') return 12;
        crashes += 1;
        isCrashed = true;
        place.crash();
        throw new Error('The process is gone.');
      };
      const place = await placeWith({ totalOn });
      await send(place, 'receipts', 'receipt', { picture: 'deadly' });
      for (let minute = 1; minute <= 20 && (await lettersOf(place, 'receipts')).length === 0; minute++) {
        if (isCrashed) await place.start();
        isCrashed = false;
        await place.pass(60_000);
      }
      assert.deepEqual([crashes, (await lettersOf(place, 'receipts')).length], [4, 1]);
      await send(place, 'receipts', 'receipt', { picture: '12' });
      await place.pass(5_000);
      assert.deepEqual(place.books.notes, ['a receipt of 12']);
      await place.close();
    });

    test('F-118, F-174: an empty status is dropped, and the next status is handled', async () => {
      const place = await placeWith();
      await send(place, 'statuses', 'status', { text: '' });
      await send(place, 'statuses', 'status', { text: 'on its way' });
      await place.pass(5_000);
      assert.deepEqual([place.books.notes, await lettersOf(place, 'statuses')], [['status on its way'], []]);
      assert.deepEqual(await place.bodies(responses), []);
      await place.close();
    });

    test('F-120, F-174: a message of an unknown article is kept for an operator, and its sender gets no reply; other messages are handled', async () => {
      const place = await placeWith();
      await send(place, 'stock', 'stock-level', { article: 'coffee', count: 3 });
      await send(place, 'stock', 'stock-level', { article: 'tea', count: 4 });
      await place.pass(5_000);
      const [letter, ...others] = await lettersOf(place, 'stock');
      assert.deepEqual([letter?.type, others, place.books.stockOf('tea')], ['stock-level', [], 4]);
      assert.deepEqual(await place.bodies(responses), []);

      place.books.addArticle('coffee');
      const treatment = { action: 'resubmit', by: 'olga', reason: 'the article is added' } as const;
      const { outcome } = await treat('stock', letter?.id ?? '', treatment, { ...place.system, defaultWorkflow: '' });
      assert.equal(outcome, 'done');
      await place.pass(5_000);
      assert.deepEqual([place.books.stockOf('coffee'), await lettersOf(place, 'stock')], [3, []]);
      await place.close();
    });
  });

test('F-174: the example starts like the other examples, and a message of its folder becomes an order', async (t) => {
  const { data, variables, open } = site(t);
  const system = await startLocal(t, { ...variables, REDRESS_APP: `${root}examples/expenses/app.ts` });
  assert.equal(defaultApp.consumers?.length, 4);
  const body = readFileSync(new URL('../../examples/expenses/messages/expense-report.json', import.meta.url), 'utf8');
  await open().queues.send([{ queue: 'expenses-messages', body }]);
  await until('it becomes an order', async () => (await open().store.list({ client: 'expenses' }, undefined, 1)).items.length === 1);
  assert.ok(data);
  await system.kill('SIGTERM');
});
