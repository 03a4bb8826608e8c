import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import {
  type App,
  defineApp,
  defineConsumer,
  defineWorkflow,
  type JsonObject,
  type MessageContext,
  messageType,
  type OwnFailureCount,
  type OwnFailureCounts,
  PermanentFailure,
  secret,
  sequence,
  TransientFailure,
  UnprocessableMessage,
  waitFor,
} from 'redress';
import * as z from 'zod';
import type { ChannelPolicies } from '#authoring/channel-policy';
import { mask } from '#core/definition/secrets';
import { collections } from '#ports/documents';
import { openChannel } from '#roles/channels/operate';
import { channelState } from '#roles/channels/state';
import { deadLetterIn } from '#roles/dead-letters/dead-letter';
import { envelopeOf } from '#roles/dead-letters/envelope';
import { treat } from '#roles/dead-letters/resubmit';
import { topologyOf } from '#runtime/topology';
import { instrumented } from '#testing/world/instrumented-ports';
import { registerClient } from '#testing/world/register-client';
import { type Desk, type DeskOptions, lineOf, nothing, noting, openDesk, started, submitted } from './support.ts';

const queue = 'expenses-messages';
const responseChannel = 'redress-response-acme';

const Report = z.object({ employeeId: z.int().min(1), amount: z.int(), iban: secret(z.string()).optional() });
type Handle = (report: z.infer<typeof Report>, context: MessageContext) => unknown;

const approval = defineWorkflow('approval', { version: 1, order: z.object({ amount: z.int() }) }, () =>
  sequence(waitFor('receipt', z.object({ number: z.int() })), waitFor('payment', z.object({}))),
);

function deskWith(context: TestContext, handle: Handle, channels: ChannelPolicies = {}, options: DeskOptions = {}): Desk {
  const consumer = defineConsumer('expenses', {
    'expense-report': messageType({ body: Report, handle }),
    'status-report': messageType({ body: z.object({ text: z.string() }), handle: () => undefined }),
  });
  return openDesk(context, defineApp({ workflows: [approval], agents: [], consumers: [consumer], channels }), options);
}

const reportOf = (body: object = { employeeId: 7, amount: 120 }, more: object = {}) => ({
  v: 1,
  type: 'expense-report',
  conversation: 'report-1',
  body,
  ...more,
});

const countsIn = (desk: Desk): Promise<readonly unknown[]> =>
  desk.store
    .documents(collections.tracks('expenses'), undefined, 10)
    .then((all) => all.filter(({ id }) => !id.startsWith('#')).map(({ id, content }) => [id, content['failures']]));

const fails = (error: Error) => () => {
  throw error;
};
const notYet = fails(new UnprocessableMessage('There is no such employee yet.'));

/** Sends with the addresses of a registered client, which receives errors. */
async function registered(desk: Desk): Promise<object> {
  await registerClient(desk.store, { id: 'acme', responseChannels: [responseChannel], senders: ['local'] });
  return { client: 'acme', responseChannel, reference: 'r-1' };
}

const errorsTo = (desk: Desk) => desk.messages(responseChannel).map(({ at: _, deadLetter: __, ...error }) => error);
const error500 = { v: 1, type: 'error', consumer: 'expenses', code: 500, message: 'Unable to process message.' };

describe('a message for a consumer of the app', () => {
  test('F-174: goes to the function of its type, with its body checked, its conversation, and what the queue knows of it', async (context) => {
    const handled: unknown[] = [];
    const desk = deskWith(context, (report, { conversation, delivery, senderId }) => {
      handled.push([report, conversation, delivery, senderId]);
    });
    await desk.send(queue, reportOf({ employeeId: 7, amount: 120, shoeSize: 44 }));
    assert.equal(await desk.deliver(queue), 0);
    assert.deepEqual(handled, [[{ employeeId: 7, amount: 120 }, 'report-1', 1, 'local']]);
    assert.deepEqual([await countsIn(desk), desk.messages(queue)], [[], []]);
  });

  test('F-113, F-174: if its type is unknown, it is a dead letter after its first delivery, and its sender receives an error message with the code 500', async (context) => {
    const desk = deskWith(context, () => assert.fail('nothing handles it'));
    await desk.send(queue, reportOf({}, { ...(await registered(desk)), type: 'inquiry' }));
    assert.equal(await desk.deliver(queue), 0);
    const [letter, ...others] = await desk.deadLetter();
    assert.deepEqual(
      [letter?.type, letter?.reason, letter?.failures, others],
      ['inquiry', 'The consumer "expenses" has no message type "inquiry". Expected one of: expense-report, status-report.', 1, []],
    );
    assert.deepEqual(await countsIn(desk), []);
    assert.deepEqual(errorsTo(desk), [{ ...error500, conversation: 'report-1', reference: 'r-1' }]);
  });

  test('F-113, F-174: if its type has the name of something that every object has, it is a dead letter after its first delivery', async (context) => {
    const desk = deskWith(context, () => assert.fail('it is handled'));
    for (const type of ['constructor', 'toString', '__proto__']) await desk.send(queue, { ...reportOf(), type, conversation: type });
    assert.equal(await desk.deliver(queue), 0);
    assert.deepEqual(
      (await desk.deadLetter()).map(({ failures, reason }) => [failures, /has no message type/.test(reason)]),
      [1, 2, 3].map(() => [1, true]),
    );
  });

  test('F-116, F-174: if the schema or the function refuses its content, it is dead-lettered at once and no failure is counted', async (context) => {
    const outOfRange = fails(new PermanentFailure('NoSuchEmployee', 'Employee 7 is out of the range of numbers.'));
    for (const [message, reason] of [
      ['nonsense', 'This is not a valid message for a consumer.'],
      [reportOf({ amount: 1 }), /^The body of this expense-report does not match its schema: employeeId: /],
      [reportOf(), 'NoSuchEmployee: Employee 7 is out of the range of numbers.'],
    ] as const) {
      const desk = deskWith(context, outOfRange);
      await desk.send(queue, message);
      assert.equal(await desk.deliver(queue), 0);
      const [letter] = await desk.deadLetter();
      assert.equal(letter?.failures, 1);
      if (typeof reason === 'string') assert.equal(letter?.reason, reason);
      else assert.match(letter?.reason ?? '', reason);
      assert.deepEqual(await countsIn(desk), []);
    }
  });

  test('F-116: with more errors than fit into a record, it becomes a dead letter whose reason is cut', async (context) => {
    const desk = deskWith(context, fails(new PermanentFailure('NoSuchEmployee', 'out of range, '.repeat(100_000))));
    await desk.send(queue, reportOf());
    assert.equal(await desk.deliver(queue), 0);
    const [{ reason = '' } = {}] = await desk.deadLetter();
    assert.equal(reason.length, 2000);
    assert.match(reason, /^NoSuchEmployee: out of range, .*…$/);
  });

  test('F-109, F-110, F-117: its failures are counted for its conversation, and the success of the third attempt clears the count', async (context) => {
    let tried = 0;
    const desk = deskWith(context, () => (++tried < 3 ? notYet() : undefined));
    await desk.send(queue, reportOf());
    for (const failures of [1, 2]) {
      assert.equal(await desk.deliver(queue), 1);
      assert.deepEqual(await countsIn(desk), [['conversation/anyone/report-1', failures]]);
    }
    assert.equal(await desk.deliver(queue), 0);
    assert.deepEqual([await countsIn(desk), await desk.deadLetter()], [[], []]);
  });

  test('F-111, F-174: the fourth failure makes it a dead letter with its attempts, and its sender receives the error 500', async (context) => {
    const desk = deskWith(context, notYet);
    await desk.send(queue, reportOf(undefined, await registered(desk)));
    for (const comesAgain of [1, 1, 1, 0]) assert.equal(await desk.deliver(queue), comesAgain);
    const [letter] = await desk.deadLetter();
    assert.deepEqual([letter?.failures, letter?.attempts.length, letter?.queue], [4, 4, queue]);
    assert.deepEqual(errorsTo(desk), [{ ...error500, conversation: 'report-1', reference: 'r-1' }]);
    assert.deepEqual([await countsIn(desk), desk.messages(queue)], [[], []]);
    assert.equal(desk.announced().at(-1)?.detailType, 'Message Dead-Lettered');
  });

  test('F-111: its error goes only to the registered queue of a client for which its sender may speak', async (context) => {
    for (const change of [{ client: 'other' }, { responseChannel: 'redress-response-other' }, { client: undefined }]) {
      const desk = deskWith(context, notYet);
      await desk.send(queue, reportOf({}, { ...(await registered(desk)), ...change }));
      assert.equal(await desk.deliver(queue), 0);
      assert.equal((await desk.deadLetter()).length, 1);
      for (const channel of [responseChannel, 'redress-response-other']) assert.deepEqual(desk.messages(channel), []);
    }
  });

  test('X-27: its failure is never counted while an outage prevents its handling', async (context) => {
    const desk = deskWith(context, fails(new TransientFailure('The ledger is down.')));
    await desk.send(queue, reportOf());
    for (let delivery = 1; delivery <= 6; delivery++) assert.equal(await desk.deliver(queue), 1);
    assert.deepEqual([await countsIn(desk), await desk.deadLetter()], [[], []]);
  });

  test('F-118: is dropped if it fails and its type is short-lived, and the next message is handled', async (context) => {
    const handled: number[] = [];
    const desk = deskWith(context, ({ amount }) => void handled.push(amount), { expenses: { drop: ['status-report'] } });
    await desk.send(queue, { v: 1, type: 'status-report', body: {} });
    await desk.send(queue, reportOf());
    assert.equal(await desk.deliver(queue), 0);
    assert.deepEqual([handled, await desk.deadLetter()], [[120], []]);
  });

  for (const [what, error] of [
    ['cannot process it yet', new UnprocessableMessage('There is no such device yet.')],
    ['fails on it', new TypeError('text is undefined')],
    ['finds that no try can help', new PermanentFailure('NoSuchDevice', 'There is no such device.')],
  ] as const)
    test(`F-118: is dropped if its type is short-lived and its function ${what}; six such failures in a row close no channel`, async (context) => {
      let handled = 0;
      const handle = (): void => {
        handled += 1;
        if (handled <= 6) throw error;
      };
      const desk = deskWith(context, handle, { expenses: { drop: ['expense-report'] } });
      for (let sent = 1; sent <= 7; sent++) {
        await desk.send(queue, reportOf(undefined, { conversation: `report-${sent}` }));
        assert.equal(await desk.deliver(queue), 0);
      }
      assert.deepEqual([handled, await desk.deadLetter(), await countsIn(desk)], [7, [], []]);
      assert.equal((await channelState('expenses', desk.store))?.state ?? 'open', 'open');
    });

  test('F-119: the log of a failure names its sender and its content if the policy says so, and never a secret', async (context) => {
    const body = { employeeId: 7, amount: 120, iban: 'DE02120300000000202051' };
    for (const [policy, shows] of [
      [{ logsBody: true, logsSender: true }, [true, true]],
      [{ logsBody: false, logsSender: false }, [false, false]],
    ] as const) {
      const desk = deskWith(context, notYet, { expenses: policy });
      await desk.send(queue, reportOf(body));
      await desk.deliver(queue);
      const line = desk.log.find((each) => each.includes('failed to process record')) ?? '';
      assert.deepEqual([line.includes('senderId'), line.includes('amount')], shows);
      assert.ok(!line.includes(body.iban));
    }
  });

  test('F-120: if the policy lets its conversation go on, only an operator is notified; the operator edits the message, and it is handled', async (context) => {
    const handled: number[] = [];
    const handle: Handle = ({ employeeId }) => (employeeId === 7 ? void handled.push(employeeId) : notYet());
    const desk = deskWith(context, handle, { expenses: { conversation: 'goes on', maxFailures: 0 } });
    await desk.send(queue, reportOf({ employeeId: 77, amount: 1 }, await registered(desk)));
    assert.equal(await desk.deliver(queue), 0);
    const [letter] = await desk.deadLetter();
    assert.deepEqual(desk.messages(responseChannel), []);

    const ports = { ...desk.system, defaultWorkflow: '' };
    const resubmit = (body: JsonObject) =>
      treat('expenses', letter?.id ?? '', { action: 'resubmit', by: 'olga', reason: 'a slip', body }, ports);
    assert.deepEqual(await resubmit(reportOf({ employeeId: 'seven', amount: 1 }) as unknown as JsonObject), {
      outcome: 'invalid',
      problems: [{ pointer: '/body/body/employeeId', code: 'invalid-type', detail: 'Invalid input: expected number, received string' }],
    });
    assert.equal((await resubmit(reportOf({ employeeId: 7, amount: 1 }) as unknown as JsonObject)).outcome, 'done');
    assert.equal(await desk.deliver(queue), 0);
    assert.deepEqual([handled, await desk.deadLetter()], [[7], []]);
  });

  test('F-114: an end or an error of the other side ends its conversation, and clears the count', async (context) => {
    for (const type of ['end', 'error']) {
      const desk = deskWith(context, notYet);
      await desk.send(queue, reportOf());
      await desk.deliver(queue);
      assert.equal((await countsIn(desk)).length, 1);
      await desk.take(queue);
      await desk.send(queue, { v: 1, type, conversation: 'report-1' });
      assert.equal(await desk.deliver(queue), 0);
      assert.deepEqual([await countsIn(desk), await desk.deadLetter()], [[], []]);
    }
  });

  test('F-109: its failures are not counted with those of another client, whose conversation has the same name', async (context) => {
    const desk = deskWith(context, notYet);
    for (const client of ['acme', 'other']) await desk.send(queue, reportOf(undefined, { client }));
    assert.equal(await desk.deliver(queue), 2);
    assert.deepEqual(await countsIn(desk), [
      ['conversation/acme/report-1', 1],
      ['conversation/other/report-1', 1],
    ]);
  });

  test('S24: a message that failed may name any order, and nothing of the message enters the history of that order', async (context) => {
    const desk = deskWith(context, notYet);
    const orderId = await submitted(desk, { amount: 5 }, { workflow: 'approval' });
    await desk.send(queue, reportOf({}, { orderId }));
    assert.equal(await desk.deliver(queue), 0);
    const [letter] = await desk.deadLetter();
    const treatment = { action: 'discard', by: 'olga', reason: 'nobody needs it' } as const;
    assert.equal((await treat('expenses', letter?.id ?? '', treatment, { ...desk.system, defaultWorkflow: '' })).outcome, 'done');
    assert.deepEqual((await desk.store.head(orderId))?.notes, []);
  });

  test('F-115: it comes alone or in batches, as the policy of its channel says', () => {
    const consumer = defineConsumer('expenses', { report: messageType({ body: Report, handle: () => undefined }) });
    const sizeWith = (channels: ChannelPolicies) =>
      topologyOf(defineApp({ workflows: [], agents: [], consumers: [consumer], channels }))
        .flatMap(({ sources }) => sources)
        .find((source) => source.queue === queue)?.batchSize;
    assert.deepEqual([sizeWith({}), sizeWith({ expenses: { batchSize: 1 } })], [10, 1]);
  });

  test('F-108, F-174: five failures in a row close its queue; after an opening with a canary, one message goes first', async (context) => {
    let isMended = false;
    let tries = 0;
    const handled: string[] = [];
    const desk = deskWith(context, (_, { conversation }) => {
      tries += 1;
      if (!isMended) notYet();
      handled.push(`${conversation}`);
    });
    for (const index of [1, 2, 3, 4, 5]) await desk.send(queue, reportOf(undefined, { conversation: `report-${index}` }));
    assert.equal(await desk.deliver(queue), 5);
    assert.partialDeepStrictEqual(await channelState('expenses', desk.store), { state: 'closed', queues: [queue], by: 'engine' });

    await openChannel('expenses', { by: 'olga', reason: 'mended?', now: desk.clock.now(), canary: true }, desk.store);
    await desk.clock.advance(60_000);
    assert.equal(await desk.deliver(queue), 5);
    assert.deepEqual([tries, handled], [6, []]);
    isMended = true;
    for (let second = 0; second < 600 && handled.length < 5; second++) {
      await desk.clock.advance(1_000);
      await desk.deliver(queue);
    }
    assert.deepEqual([new Set(handled).size, await countsIn(desk)], [5, []]);
  });

  test('F-174: its function can use the orders of its client, and a repeated message repeats no effect', async (context) => {
    const seen: unknown[] = [];
    const desk = deskWith(context, async ({ amount }, { orders, conversation = '', delivery }) => {
      const submitted = await orders.submit({ workflow: 'approval', idempotencyKey: conversation, order: { amount } });
      assert.ok(submitted.outcome === 'accepted');
      const { orderId } = submitted.order;
      const signaled = await orders.signal(orderId, 'receipt', { number: 1 });
      seen.push([submitted.replayed, signaled, (await orders.get(orderId))?.processState]);
      if (delivery === 1) throw new UnprocessableMessage('The ledger is not open yet.');
      seen.push(await orders.cancel(orderId, 'withdrawn'), (await orders.get(orderId))?.outcome);
      seen.push(await orders.signal(orderId, 'receipt', { number: 2 }));
    });
    await desk.send(queue, reportOf());
    for (const comesAgain of [1, 0]) assert.equal(await desk.deliver(queue), comesAgain);
    assert.deepEqual(seen, [[false, 'done', 'Processing'], [true, 'done', 'Processing'], 'done', 'canceled', 'refused']);
  });

  test('F-174, S24: its function cannot see, signal or cancel an order of another client', async (context) => {
    const seen: unknown[] = [];
    const desk = deskWith(context, async (_, { orders, conversation = '' }) => {
      seen.push(await orders.get(conversation), await orders.signal(conversation, 'receipt'), await orders.cancel(conversation, 'x'));
    });
    const foreign = await desk.submit({ amount: 5 }, { client: 'acme', workflow: 'approval' });
    assert.ok(foreign.outcome === 'accepted');
    await desk.send(queue, reportOf(undefined, { conversation: foreign.order.orderId }));
    await desk.deliver(queue);
    assert.deepEqual(seen, [undefined, 'not-found', 'not-found']);
    assert.equal((await desk.state(foreign.order.orderId)).processState, 'Processing');
  });
});

test('F-174: while a credential is not set, the message waits; later no dead letter contains the value of the credential', async (context) => {
  let value: string | undefined;
  const desk = deskWith(context, async (_, { credential }) => notYetWith(await credential('LEDGER_KEY')), { expenses: { maxFailures: 0 } });
  const notYetWith = (key: string) => fails(new UnprocessableMessage(`The ledger refuses the key ${key}.`))();
  Object.assign(desk.system.credentials, { read: async () => value });
  await desk.send(queue, reportOf());
  assert.equal(await desk.deliver(queue), 1);
  value = 'tell-nobody';
  assert.equal(await desk.deliver(queue), 0);
  const [letter] = await desk.deadLetter();
  assert.match(letter?.attempts.at(-1)?.error ?? '', /^UnprocessableMessage: The ledger refuses the key /);
  assert.ok(!JSON.stringify(letter).includes('tell-nobody'));
});

test('S24, F-174: a forged envelope of a dead letter is kept unchanged under its real sender', async (context) => {
  const desk = deskWith(context, notYet);
  const said = { messageId: 'm-1', sentAt: 0, senderId: 'somebody', reason: 'It failed.', attempts: [], failures: 9 };
  const forged = envelopeOf({ queue, ...said, body: JSON.stringify(reportOf(undefined, await registered(desk))) });
  await desk.send(`${queue}-dead`, forged);
  assert.deepEqual(
    (await desk.deadLetter()).map(({ body, senderId }) => [body, senderId]),
    [[forged, 'local']],
  );
  assert.deepEqual(desk.messages(responseChannel), []);
});

test('A9, F-174: neither the queue of a consumer nor a dead letter holds the text of a message in clear', async (context) => {
  const desk = deskWith(context, notYet, { expenses: { maxFailures: 0 } });
  const iban = 'DE02120300000000202051';
  await desk.send(queue, reportOf({ employeeId: 7, amount: 120, iban }));
  const stored = () => JSON.stringify(desk.database.prepare('SELECT body FROM messages UNION ALL SELECT record FROM documents').all());
  assert.ok(!stored().includes(iban), 'on the queue');
  assert.equal(await desk.deliver(queue), 0);
  assert.ok(!stored().includes(iban), 'on its way');
  const [letter] = await desk.deadLetter();
  assert.ok(!stored().includes(iban), 'as a dead letter');
  assert.ok(letter?.body.includes(iban));
});

/** Returns a desk whose store does not answer at some calls: before or after their effect. */
function withOutages(context: TestContext, handle: Handle, fails: (site: string) => 'before' | 'after' | undefined): Desk {
  const around: DeskOptions['around'] = ({ store }) => ({
    store: instrumented('store', store, async ({ site, apply }) => {
      const when = fails(site);
      if (when === 'before') throw new Error('The store is away.');
      const answer = await apply();
      if (when === 'after') throw new Error('The answer of the store is lost.');
      return answer;
    }),
  });
  return deskWith(context, handle, { expenses: { maxFailures: 0 } }, { around });
}

describe('an outage of the store does not count as a failure of a message', () => {
  /** Sends a message that was received before, so that its attempts are counted before they are made. */
  async function received(desk: Desk): Promise<void> {
    await desk.send(queue, reportOf());
    await desk.queues.receive(queue, { max: 1, visibilityMs: 1_000, waitMs: 0 });
    await desk.clock.advance(1_000);
  }

  test('S52, X-2: a failure count is removed if the store has written it, but its answer was lost', async (context) => {
    const handled: unknown[] = [];
    let times = 1;
    const desk = withOutages(
      context,
      (body) => handled.push(body),
      (site) => (site === 'store.putDocument' && times-- > 0 ? 'after' : undefined),
    );
    await received(desk);
    assert.equal(await desk.deliver(queue), 1);
    assert.deepEqual(await countsIn(desk), []);
    assert.equal(await desk.deliver(queue), 0);
    assert.deepEqual([handled.length, await desk.deadLetter()], [1, []]);
  });

  test('S52: an attempt that met an outage is removed from the count, even if the first writes fail', async (context) => {
    let times = 3;
    let isAway = true;
    const handle = () => (isAway ? fails(new TransientFailure('The books are away.'))() : undefined);
    const desk = withOutages(context, handle, (site) => (site === 'store.removeDocument' && times-- > 0 ? 'before' : undefined));
    await received(desk);
    assert.equal(await desk.deliver(queue), 1);
    assert.deepEqual(await countsIn(desk), []);
    isAway = false;
    assert.equal(await desk.deliver(queue), 0);
    assert.deepEqual(await desk.deadLetter(), []);
  });

  test('S53: a success clears the count, even if the first writes fail', async (context) => {
    let times = 3;
    const desk = withOutages(
      context,
      () => undefined,
      (site) => (site === 'store.removeDocument' && times-- > 0 ? 'before' : undefined),
    );
    await received(desk);
    assert.equal(await desk.deliver(queue), 0);
    assert.deepEqual(await countsIn(desk), []);
  });
});

describe('a consumer that keeps its failure counts in its own state', () => {
  function ownState(): { readonly state: Map<string, OwnFailureCount>; readonly failureCounts: OwnFailureCounts } {
    const state = new Map<string, OwnFailureCount>();
    const failureCounts: OwnFailureCounts = {
      read: async (conversation) => state.get(conversation),
      async write(conversation, count, loadedRev) {
        if ((state.get(conversation)?.rev ?? 0) !== loadedRev) return false;
        if (count) state.set(conversation, count);
        else state.delete(conversation);
        return true;
      },
    };
    return { state, failureCounts };
  }
  const deskOn = (context: TestContext, failureCounts: OwnFailureCounts, handle: Handle): Desk => {
    const consumer = defineConsumer('expenses', { 'expense-report': messageType({ body: Report, handle }) }, { failureCounts });
    return openDesk(context, defineApp({ workflows: [], agents: [], consumers: [consumer] }));
  };

  test('F-122: counts in that state and not in the table; a success and a dead letter clear the count', async (context) => {
    const { state, failureCounts } = ownState();
    let isKnown = false;
    const desk = deskOn(context, failureCounts, () => (isKnown ? undefined : notYet()));
    await desk.send(queue, reportOf());
    for (const failures of [1, 2]) {
      assert.equal(await desk.deliver(queue), 1);
      assert.deepEqual(
        [...state].map(([key, count]) => [key, count.failures]),
        [['conversation/anyone/report-1', failures]],
      );
      assert.deepEqual(await countsIn(desk), []);
    }
    isKnown = true;
    assert.equal(await desk.deliver(queue), 0);
    assert.equal(state.size, 0);

    isKnown = false;
    await desk.send(queue, reportOf());
    for (const comesAgain of [1, 1, 1, 0]) assert.equal(await desk.deliver(queue), comesAgain);
    assert.deepEqual([(await desk.deadLetter())[0]?.failures, state.size], [4, 0]);
  });

  test('F-122: its dead letter has all attempts with their errors', async (context) => {
    let tries = 0;
    const handle = (): never => {
      tries += 1;
      throw new UnprocessableMessage(`try ${tries}`);
    };
    const desk = deskOn(context, ownState().failureCounts, handle);
    await desk.send(queue, reportOf());
    for (const comesAgain of [1, 1, 1, 0]) assert.equal(await desk.deliver(queue), comesAgain);
    const [letter] = await desk.deadLetter();
    assert.deepEqual(
      letter?.attempts.map(({ error }) => /try \d/.exec(error)?.[0]),
      ['try 1', 'try 2', 'try 3', 'try 4'],
    );
  });

  test('F-122: the failures of another consumer are counted in the table', async (context) => {
    const { state, failureCounts } = ownState();
    const types = { 'expense-report': messageType({ body: Report, handle: notYet }) };
    const consumers = [defineConsumer('travel', types, { failureCounts }), defineConsumer('expenses', types)];
    const desk = openDesk(context, defineApp({ workflows: [], agents: [], consumers }));
    await desk.send(queue, reportOf());
    assert.equal(await desk.deliver(queue), 1);
    assert.deepEqual([await countsIn(desk), state.size], [[['conversation/anyone/report-1', 1]], 0]);
  });

  test('F-122: a message whose processing has begun too often is given up before another attempt, and its count is cleared', async (context) => {
    const { state, failureCounts } = ownState();
    const desk = deskOn(context, failureCounts, () => assert.fail('it crashes the process'));
    state.set('conversation/anyone/report-1', { rev: 4, failures: 4, attempts: [] });
    await desk.send(queue, reportOf());
    // A process received it and crashed.
    await desk.queues.receive(queue, { max: 1, visibilityMs: 1_000, waitMs: 0 });
    await desk.clock.advance(1_000);
    assert.equal(await desk.deliver(queue), 0);
    assert.deepEqual([(await desk.deadLetter())[0]?.failures, state.size], [4, 0]);
  });

  test('F-122: after a lost race, adds to the count that the other write has stored; while its state is unavailable, the message stays in the queue', async (context) => {
    const { state, failureCounts } = ownState();
    let isAway = false;
    let races = 1;
    const disturbed: OwnFailureCounts = {
      read: (conversation) => (isAway ? Promise.reject(new Error('The state is away.')) : failureCounts.read(conversation)),
      async write(...write) {
        if (races-- > 0) state.set(write[0], { rev: 1, failures: 1, attempts: [] });
        return failureCounts.write(...write);
      },
    };
    const desk = deskOn(context, disturbed, notYet);
    await desk.send(queue, reportOf());
    assert.equal(await desk.deliver(queue), 1);
    assert.deepEqual(
      [...state.values()].map(({ failures, rev }) => [failures, rev]),
      [[2, 2]],
    );
    isAway = true;
    for (let delivery = 1; delivery <= 4; delivery++) assert.equal(await desk.deliver(queue), 1);
    assert.deepEqual(await desk.deadLetter(), []);
  });
});

test('F-174: a message that is handled costs no call of the store beyond those of a request of an agent', async (context) => {
  const callsOf = async (app: App, to: string, body: unknown): Promise<readonly string[]> => {
    const calls: string[] = [];
    const around: DeskOptions['around'] = ({ store }) => ({
      store: instrumented('store', store, async ({ site, apply }) => noting(calls, site, apply())),
    });
    const desk = openDesk(context, app, { around });
    await desk.send(to, body);
    assert.equal(await desk.deliver(to), 0);
    return calls;
  };
  const consumer = defineConsumer('expenses', { 'expense-report': messageType({ body: Report, handle: () => undefined }) });
  const consumed = await callsOf(defineApp({ workflows: [], agents: [], consumers: [consumer] }), queue, reportOf());
  const line = lineOf({ pick: nothing });
  const desk = openDesk(context, line);
  await submitted(desk);
  const request = await desk.request();
  assert.deepEqual(consumed, await callsOf(line, 'worker-requests', request));
});

test('F-120, F-174: the API lists the channel with its dead letters, and an operator resubmits one after an edit', async (context) => {
  const handled: number[] = [];
  const consumer = defineConsumer('expenses', {
    'expense-report': messageType({ body: Report, handle: ({ employeeId }) => void handled.push(employeeId) }),
  });
  const system = await started(context, defineApp({ workflows: [approval], agents: [], consumers: [consumer] }));
  const headers = {
    authorization: `Bearer ${await system.token({ role: 'operator', subject: 'olga' })}`,
    'content-type': 'application/json',
  };
  const call = async (method: string, path: string, body?: object) => {
    const answer = await system.fetch(path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    return { status: answer.status, body: (await answer.json()) as JsonObject & { readonly items: readonly JsonObject[] } };
  };
  await system.queues.send([{ queue, body: JSON.stringify(reportOf({ employeeId: 'seven', amount: 1, iban: 'DE02' }, { memo: 'DE02' })) }]);
  await system.passTime(1_000);
  const channels = await call('GET', '/channels');
  assert.partialDeepStrictEqual(channels.body.items, [{ name: 'expenses', open: true, deadLetters: 1, breaker: { phase: 'closed' } }]);
  const { items } = (await call('GET', '/channels/expenses/dead-letters')).body;
  assert.partialDeepStrictEqual(items, [{ channel: 'expenses', queue, type: 'expense-report', failures: 1, orderId: null }]);
  const path = `/channels/expenses/dead-letters/${String(items[0]?.['id'])}`;
  const body = (await call('GET', path)).body['body'] as JsonObject;
  assert.deepEqual(body['body'], { employeeId: 'seven', amount: 1, iban: mask });
  assert.equal(body['memo'], mask, 'a field that no schema knows');
  const edited = { ...body, body: { employeeId: 7, amount: 1, iban: mask } };
  assert.equal((await call('POST', `${path}/resubmit`, { reason: 'a slip', body: edited })).status, 202);
  await system.passTime(1_000);
  assert.deepEqual([handled, (await call('GET', '/channels/expenses/dead-letters')).body.items], [[7], []]);
  assert.equal((await call('POST', '/channels/expenses/close', { reason: 'maintenance' })).status, 200);
  const opened = await call('POST', '/channels/expenses/open', { canary: true });
  assert.partialDeepStrictEqual(opened, { status: 200, body: { breaker: { phase: 'open' } } });
});

test('A9, F-174: the erasure of an order removes the text of each dead letter that names it', async (context) => {
  const consumer = defineConsumer('expenses', { 'expense-report': messageType({ body: Report, handle: () => undefined }) });
  const system = await started(context, defineApp({ workflows: [approval], agents: [], consumers: [consumer] }));
  const orderId = await submitted(system, { amount: 5 });
  await system.cancel(orderId);
  await system.queues.send([{ queue, body: JSON.stringify(reportOf({ about: orderId })) }]);
  await system.passTime(60_000);
  const headers = { authorization: `Bearer ${await system.token({ role: 'admin', subject: 'ann' })}`, 'content-type': 'application/json' };
  const erased = await system.fetch(`/orders/${orderId}/erase`, { method: 'POST', headers, body: JSON.stringify({ reason: 'asked to' }) });
  assert.equal(erased.status, 200, await erased.text());
  const [letter] = (await system.store.documents(collections.deadLetters('expenses'), undefined, 10)).map(deadLetterIn);
  assert.equal(letter?.erased, true);
});

describe('a consumer that cannot work', () => {
  const handle = () => undefined;
  const good = { report: messageType({ body: Report, handle }) };
  const app = (consumers: readonly unknown[], channels: ChannelPolicies = {}) =>
    defineApp({ workflows: [], agents: [], consumers: consumers as never, channels });

  test('F-174: if the policy names a message type that is not declared, the app is refused with the place and the remedy', () => {
    assert.throws(() => app([defineConsumer('expenses', good)], { expenses: { drop: ['report', 'status'] } }), {
      name: 'DefinitionError',
      message:
        'channels.expenses.drop[1]: the consumer "expenses" has no message type "status". Add it to defineConsumer, or name one of: report.',
    });
  });

  test('F-174: each other mistake is refused with its place', () => {
    const twice = defineConsumer('expenses', good);
    for (const [wrong, message] of [
      [() => defineConsumer('Expenses', good), /^Invalid consumer name "Expenses": begin with a lowercase letter/],
      [() => defineConsumer('submissions', good), /^"submissions" is a channel of the engine/],
      [() => defineConsumer('expenses', {}), /^The consumer "expenses" has no message type\. Add one/],
      [() => defineConsumer('expenses', { 'a b': good.report }), /^Invalid message type "a b" of the consumer "expenses"/],
      [() => defineConsumer('expenses', { end: good.report }), /^expenses: the type "end" ends a conversation/],
      [() => defineConsumer('expenses', { report: { handle } as never }), /^expenses report body: expected a zod schema/],
      [
        () => defineConsumer('expenses', { report: { body: Report } as never }),
        /^Expected a function, got undefined\. Write expenses report/,
      ],
      [() => app([twice, twice]), /^Two parts of the app are called "expenses"/],
      [() => app([{ name: 'expenses' }]), /^defineApp: consumers\[0\] must come from defineConsumer, got object/],
    ] as const)
      assert.throws(wrong, { message });
  });
});
