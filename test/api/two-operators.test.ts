import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import { startSystem } from 'redress/testing';
import * as z from 'zod';
import type { StepReply } from '#core/data/event';
import { taskIdOf } from '#roles/exceptions/ids';
import { type Answered, issuer, startApi } from './support.ts';

const Declined = fault('CardDeclined');
const Nothing = z.object({});
const Card = z.object({ card: z.string() });
const stock = defineAgent('stock', {
  reserve: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
  release: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
});
const payment = defineAgent('payment', {
  charge: operation({ input: Card, output: Nothing, faults: [Declined], run: (_, call) => call.failed(Declined, 'The bank says no.') }),
});
const sell = (version: number) =>
  defineWorkflow('fulfil-order', { version, order: Card, toOperator: [Declined] }, ({ order }) =>
    sequence(
      stock.reserve({}).undo(() => stock.release({})),
      payment.charge({ card: order.card }).noUndo(),
    ),
  );
const app = defineApp({ workflows: [sell(1), sell(2)], agents: [stock, payment] });

const people = ['olga', 'otto'] as const;
const tokens = {
  olga: await issuer.sign({ role: 'operator', subject: 'olga' }),
  otto: await issuer.sign({ role: 'operator', subject: 'otto' }),
};
type Person = (typeof people)[number];

/** A call that an operator sends about an order in Error. */
interface Verb {
  readonly path: string;
  readonly body?: object;
  readonly isChecked?: true;
  /** Instead of an order in Error: one whose request is open, that is suspended, whose undo fails, or whose state is damaged. */
  readonly after?: 'a request' | 'suspension' | 'failed undo' | 'damage';
}

const instruction = (kind: string, fields: object = {}, after?: Verb['after']): Verb => ({
  path: '/orders/ORDER/instructions',
  body: { kind, ...fields, reason: 'two at once' },
  isChecked: true,
  ...(after ? { after } : {}),
});

const instructions: { readonly [verb: string]: Verb } = {
  resubmit: instruction('resubmit'),
  skip: instruction('skip', { output: {}, effect: 'none' }),
  'replace-input': instruction('replace-input', { input: { card: 'new' } }),
  'resume-at': instruction('resume-at', { path: 'order/reserve', undoBetween: true }),
  recover: instruction('recover', { path: 'order/reserve' }),
  compensate: instruction('compensate'),
  cancel: instruction('cancel'),
  terminate: instruction('terminate'),
  restart: instruction('restart', { undoFirst: true }),
  amend: instruction('amend', { maxFailures: 7 }),
  migrate: instruction('migrate', { version: 1 }),
  acknowledge: instruction('acknowledge'),
};
const verbs: { readonly [verb: string]: Verb } = {
  ...instructions,
  suspend: instruction('suspend', {}, 'a request'),
  resume: instruction('resume', {}, 'suspension'),
  'retry-undo': instruction('retry-undo', {}, 'failed undo'),
  'mark-compensated': instruction('mark-compensated', {}, 'failed undo'),
  'resolve a task': { path: '/tasks/TASK/resolve', body: { instruction: { kind: 'resubmit' }, reason: 'two at once' }, isChecked: true },
  'claim a task': { path: '/tasks/TASK/claim' },
  'assign a task': { path: '/tasks/TASK/assign', body: { assignee: 'ME' } },
  'cancel as a client may': { path: '/orders/ORDER/cancel', body: { reason: 'two at once' } },
  lock: { path: '/orders/ORDER/lock', body: { seconds: 60, reason: 'two at once' } },
  rebuild: { path: '/orders/ORDER/rebuild', body: { reason: 'two at once' }, after: 'damage' },
};

const damageOfNewest = `UPDATE states SET blob = substr(blob, 1, instr(blob, '"state":')) || 'x' WHERE id = (SELECT max(id) FROM states)`;
const races = 100;
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

function withOrders() {
  const system = startApi({ app });
  const failing = { status: 'failed', fault: { type: 'CardDeclined', class: 'unexpected', permanent: true, message: 'no' } } as const;

  /** Answers the request of an order to an agent. */
  async function answer(orderId: string, agent: string, reply: StepReply): Promise<void> {
    for (;;) {
      const [message] = await system.queues.receive(`${agent}-requests`, { max: 1, visibilityMs: 3_600_000, waitMs: 0 });
      assert.ok(message, `${agent} was asked nothing about ${orderId}`);
      const { requestId, ...about } = JSON.parse(message.body);
      if (about.orderId !== orderId) continue;
      const event = { id: requestId, type: 'reply', requestId, agent, sentAt: system.clock.now(), reply } as const;
      return void (await system.scheduler.accept(orderId, [event], []));
    }
  }

  /** An order that needs a person, and what an operator has read of it. */
  async function prepared(key: string, { after }: Verb) {
    const orderId = await system.submitOrder(key, { body: { order: { card: 'c' } } });
    await answer(orderId, 'stock', { status: 'succeeded', output: {} });
    const give = async (kind: string) => {
      const headers = { 'if-match': await etagOf(orderId) };
      await system.ask('POST', `/orders/${orderId}/instructions`, { token: tokens.olga, headers, body: { kind, reason: 'before' } });
    };
    if (after === 'suspension') await give('suspend');
    if (after === undefined || after === 'failed undo') await answer(orderId, 'payment', failing);
    if (after === 'failed undo') await give('compensate').then(() => answer(orderId, 'stock', failing));
    if (after === 'damage') system.database.prepare(damageOfNewest).run();
    return { orderId, etag: after === 'damage' ? '' : await etagOf(orderId) };
  }

  const etagOf = async (orderId: string): Promise<string> =>
    (await system.ask('GET', `/orders/${orderId}`, { as: 'operator' })).headers.get('etag') ?? '';

  const send = (person: Person, { path, body, isChecked }: Verb, { orderId, etag }: { readonly orderId: string; readonly etag: string }) =>
    system.ask('POST', path.replace('ORDER', orderId).replace('TASK', taskIdOf(orderId, 1)), {
      token: tokens[person],
      ...(isChecked ? { headers: { 'if-match': etag } } : {}),
      ...(body ? { body: JSON.parse(JSON.stringify(body).replace('"ME"', `"${person}"`)) } : {}),
    });
  return { ...system, prepared, send };
}

/** The names of the other person's refusal: in the reasons, or as the holder of the lock. */
const toldIn = ({ json }: Answered): string => JSON.stringify([json.errors?.map(({ detail }: { detail: string }) => detail), json.heldBy]);

describe(`two operators who decide about one order at the same time, ${races} times for each kind of decision`, () => {
  for (const [name, verb] of Object.entries(verbs))
    test(`${name}: one call is carried out, and the refusal of the other call names the person whose call was carried out`, async () => {
      const { prepared, send } = withOrders();
      const others = Object.values(instructions);
      const won = { olga: 0, otto: 0 };
      for (let race = 0; race < races; race++) {
        const order = await prepared(`k-${race}`, verb);
        // Half of the races of an instruction are against another kind.
        const other = verb.isChecked && !verb.after && race % 2 === 1 ? (others[race % others.length] ?? verb) : verb;
        const [first, second] = race % 4 < 2 ? people : ([people[1], people[0]] as const);
        const later = turns(race % 9).then(() => send(second, other, order));
        const answers = { [first]: await send(first, verb, order), [second]: await later } as { readonly [person in Person]: Answered };
        const winners = people.filter((person) => answers[person].status < 300);
        const [winner] = winners;
        assert.ok(winner && winners.length === 1, `race ${race}: ${people.map((person) => answers[person].text).join(' | ')}`);
        const loser = winner === 'olga' ? 'otto' : 'olga';
        assert.ok([409, 412].includes(answers[loser].status), answers[loser].text);
        assert.ok(toldIn(answers[loser]).includes(winner), `race ${race}: ${answers[loser].text}`);
        won[winner] += 1;
      }
      assert.ok(won.olga > 0 && won.otto > 0, JSON.stringify(won));
    });
});

test('two operators who comment on a task at the same time both succeed; only the one who has claimed the task can release it', async () => {
  const { prepared, send, ask } = withOrders();
  const comment = (text: string): Verb => ({ path: '/tasks/TASK/comment', body: { text } });
  for (let race = 0; race < races; race++) {
    const order = await prepared(`k-${race}`, { path: '' });
    const both = await Promise.all([
      send('olga', comment('first'), order),
      turns(race % 9).then(() => send('otto', comment('second'), order)),
    ]);
    const claimed = await send('olga', { path: '/tasks/TASK/claim' }, order);
    assert.deepEqual(
      [...both, claimed].map(({ status }) => status),
      [200, 200, 200],
    );
    const refused = await send('otto', { path: '/tasks/TASK/release' }, order);
    assert.deepEqual([refused.status, toldIn(refused).includes('olga has claimed the task')], [409, true]);
    const released = await Promise.all([1, 2].map(() => send('olga', { path: '/tasks/TASK/release' }, order)));
    assert.deepEqual(
      released.map(({ status, json }) => [status, json.state]),
      [
        [200, 'open'],
        [200, 'open'],
      ],
    );
    const { comments } = (await ask('GET', `/tasks/${taskIdOf(order.orderId, 1)}`, { as: 'viewer' })).json;
    assert.deepEqual(comments.map(({ by }: { by: string }) => by).toSorted(), ['olga', 'otto']);
  }
});

test('F-61: claims, comments and reminders do not change the ETag that a person needs for a decision', async (t) => {
  const system = await startSystem(app);
  t.after(() => system.stop());
  const submitted = await system.submit({ card: 'c' });
  assert.ok(submitted.outcome === 'accepted');
  const { orderId } = submitted.order;
  await system.passTime(2_000);
  const ask = async (person: Person, path: string, { body, headers = {} }: { readonly body?: object; readonly headers?: object } = {}) => {
    const token = await system.token({ role: 'operator', subject: person });
    const given = body ? { method: 'POST', body: JSON.stringify(body) } : {};
    return system.fetch(path, { ...given, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers } });
  };
  const etag = async () => (await ask('olga', `/orders/${orderId}`)).headers.get('etag') ?? '';
  const task = `/tasks/${taskIdOf(orderId, 1)}`;
  const read = await etag();
  const isDone = async (person: Person, path: string, body: object = {}) => assert.equal((await ask(person, path, { body })).status, 200);

  await isDone('otto', `${task}/comment`, { text: 'I have called the bank.' });
  await isDone('otto', `${task}/claim`);
  await isDone('otto', `${task}/release`);
  await isDone('otto', `${task}/assign`, { group: 'night' });
  await system.passTime(2 * 86_400_000);
  // biome-ignore lint/suspicious/noExplicitAny: the answer is JSON of any shape
  const { reminders, rev } = (await (await ask('olga', task)).json()) as any;
  assert.ok(reminders > 2 && rev > 4, JSON.stringify({ reminders, rev }));
  await isDone('olga', `${task}/claim`);
  assert.equal(await etag(), read);
  const body = { instruction: { kind: 'terminate' }, reason: 'the bank never pays' };
  assert.equal((await ask('olga', `${task}/resolve`, { body, headers: { 'if-match': read } })).status, 202);
});
