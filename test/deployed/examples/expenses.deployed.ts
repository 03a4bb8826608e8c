import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudWatchLogsClient, DescribeLogGroupsCommand, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { GetQueueUrlCommand, SendMessageCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { asked, call, ended, eventually, openQueue, outputs, received, runId, sampleIn, sqs } from '../support.ts';

/** The account of the emulator, which it reports as the sender of each message. */
const sender = '000000000000';
const client = `client-${runId}`;
const responseChannel = `redress-response-${runId}`;
const error500 = { v: 1, type: 'error', code: 500, message: 'Unable to process message.' };
/** An employee whom no earlier run has hired. */
const newcomer = 100 + (Date.now() % 90_000);
const logs = new CloudWatchLogsClient({});

interface Letter {
  readonly id: string;
  readonly type: string;
  readonly failures: number;
}

interface Message {
  readonly [field: string]: unknown;
  readonly body: object;
}

const urlOf = async (consumer: string): Promise<string> =>
  (await sqs.send(new GetQueueUrlCommand({ QueueName: `${outputs.QueuePrefix}${consumer}-messages` }))).QueueUrl ?? '';

/** Sends a message, and returns its id. */
async function send(consumer: string, message: object): Promise<string> {
  const MessageBody = JSON.stringify({ v: 1, client, responseChannel, ...message });
  const { MessageId = '' } = await sqs.send(
    new SendMessageCommand({ QueueUrl: await urlOf(consumer), MessageBody, MessageGroupId: client }),
  );
  return MessageId;
}

const lettersOf = async (consumer: string): Promise<readonly Letter[]> =>
  (await asked<{ items: readonly Letter[] }>('GET', `/channels/${consumer}/dead-letters?limit=50`)).items;

const letterOf = (consumer: string): Promise<Letter> =>
  eventually(`a dead letter of ${consumer}`, async () => (await lettersOf(consumer))[0]);

/** Corrects the content of a dead letter and resubmits it, as an operator does. */
async function resubmit(consumer: string, id: string, correction: object): Promise<void> {
  const path = `/channels/${consumer}/dead-letters/${id}`;
  const { body } = await asked<{ body: Message }>('GET', path);
  await asked('POST', `${path}/resubmit`, { body: { ...body, body: { ...body.body, ...correction } }, reason: 'It is corrected.' });
}

/**
 * Waits until the consumer has logged a line with the text. ministack ends the log of a run after 5 ms without a line, and adds the rest to
 * the log of the next run of the same process. So a test may give a message that writes the line again: it is sent every five seconds.
 */
async function logged(consumer: string, text: string, again?: object): Promise<void> {
  const { logGroups = [] } = await logs.send(new DescribeLogGroupsCommand({}));
  const { logGroupName } = logGroups.find((group) => group.logGroupName?.includes(`consumer${consumer}`)) ?? {};
  let looks = 0;
  await eventually(`"${text}" in the log`, async () => {
    const { events = [] } = await logs.send(new FilterLogEventsCommand({ logGroupName }));
    if (events.some(({ message }) => message?.includes(text))) return true;
    if (again && ++looks % 25 === 0) await send(consumer, again);
    return undefined;
  });
}

/** Sends a message, and waits until the consumer has logged a line with the text. */
async function handled(consumer: string, message: object, text: string): Promise<void> {
  await send(consumer, message);
  await logged(consumer, text, message);
}

/** Waits until the consumer has no dead letter. */
const noLetters = (consumer: string): Promise<true> =>
  eventually(`no dead letter of ${consumer}`, async () => ((await lettersOf(consumer)).length === 0 ? true : undefined));

/** Waits until the bank has paid the amount, with one order. */
async function paid(amount: number): Promise<void> {
  const orders = await eventually(`the order of ${amount}`, async () => {
    const { items } = await asked<{ items: readonly { orderId: string }[] }>('GET', '/orders?client=expenses');
    const all = await Promise.all(items.map(({ orderId }) => asked<Reimbursement>('GET', `/orders/${orderId}`)));
    const found = all.filter(({ order }) => order.amount === amount);
    return found.length > 0 ? found : undefined;
  });
  assert.equal(orders.length, 1);
  assert.partialDeepStrictEqual(await ended(orders[0]?.orderId ?? ''), { processState: 'Processed', outcome: 'completed' });
}

interface Reimbursement {
  readonly orderId: string;
  readonly order: { readonly amount: number };
}

test('F-174: the deployed processors of expense reports treat their messages in four ways', { concurrency: true }, async (t) => {
  const { url } = await openQueue(t, responseChannel);
  const registration = { responseChannels: [responseChannel], senders: [sender], reason: 'a test' };
  const put = await call('PUT', `/clients/${client}`, { role: 'admin', body: registration });
  assert.equal(put.status, 201, await put.text());
  await Promise.all([
    t.test(
      'F-116, F-120: a report with a number out of range is dead-lettered at once; after a correction and a resubmission it is paid',
      async () => {
        const body = { employeeId: 100_000, amount: 11 };
        await send('expenses', { type: 'expense-report', conversation: 'report-1', body });
        const { id, failures } = await letterOf('expenses');
        assert.equal(failures, 1);
        await resubmit('expenses', id, { employeeId: 7 });
        await paid(body.amount);
      },
    ),
    t.test('F-117: a report that comes before its employee is in the directory is delivered again, and is paid', async () => {
      const body = { employeeId: newcomer, amount: 12 };
      const early = await send('expenses', { type: 'expense-report', conversation: 'report-2', body });
      await logged('expenses', early);
      await send('expenses', { type: 'new-employee', body: { employeeId: newcomer } });
      await paid(body.amount);
    }),
    t.test('F-118: an empty status is dropped, and the next status is handled', async () => {
      await send('statuses', { type: 'status', body: { text: '' } });
      await handled('statuses', { type: 'status', body: { text: runId } }, `books: status ${runId}`);
      assert.deepEqual(await lettersOf('statuses'), []);
    }),
    t.test(
      'F-108: a receipt that crashes its process becomes a dead letter; after a correction and a resubmission it is handled',
      async () => {
        // The messages of a process that was killed come again sooner than after the longest run of the function.
        await sqs.send(new SetQueueAttributesCommand({ QueueUrl: await urlOf('receipts'), Attributes: { VisibilityTimeout: '3' } }));
        await send('receipts', { type: 'receipt', body: { picture: 'deadly' } });
        const { id } = await letterOf('receipts');
        await handled('receipts', { type: 'receipt', body: { picture: '13' } }, 'books: a receipt of 13');
        await resubmit('receipts', id, { picture: '14' });
        await noLetters('receipts');
        await logged('receipts', 'books: a receipt of 14', { type: 'receipt', body: { picture: '14' } });
      },
    ),
    t.test(
      'F-120: the message of an unknown article is kept for an operator; after a correction and a resubmission it is handled',
      async () => {
        await send('stock', sampleIn('expenses/messages/unknown-article.json'));
        const { id, type } = await letterOf('stock');
        assert.equal(type, 'stock-level');
        await resubmit('stock', id, { article: 'tea' });
        await noLetters('stock');
      },
    ),
  ]);
  // The senders of a status and of a stock level get no reply.
  const errors = (await received(url, (heard) => heard.length >= 2)).map((body) => JSON.parse(body) as object);
  const of = (consumer: string) => errors.find((each) => 'consumer' in each && each.consumer === consumer);
  assert.equal(errors.length, 2, JSON.stringify(errors));
  assert.partialDeepStrictEqual(of('expenses'), { ...error500, conversation: 'report-1' });
  assert.partialDeepStrictEqual(of('receipts'), error500);
});
