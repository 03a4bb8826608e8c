import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { SendMessageBatchRequestEntry, SQSClient } from '@aws-sdk/client-sqs';
import { createMeter, type Meter } from '#adapters/aws/meter';
import { sqsQueues } from '#adapters/aws/sqs/queues';
import { systemClock } from '#ports/clock';
import type { Outgoing, Queues } from '#ports/queues';
import { startFauxqs } from '../../support/emulators.ts';
import { listOf } from '../../support/workflows.ts';
import { clientsAt, createQueue, interfere } from './support.ts';

const fauxqs = await startFauxqs();
after(() => fauxqs.stop());

let opened = 0;

async function open(): Promise<{ queues: Queues; sqs: SQSClient; meter: Meter; prefix: string }> {
  const { sqs } = clientsAt({ sqs: fauxqs.endpoint });
  const prefix = `sqs-${++opened}-`;
  await createQueue(sqs, prefix, 'q', undefined);
  const meter = createMeter();
  meter.attach(sqs);
  return { queues: sqsQueues({ client: sqs, prefix, clock: systemClock }), sqs, meter, prefix };
}

const messages = (count: number, more: Partial<Outgoing> = {}): Outgoing[] =>
  listOf(count, (index) => ({ queue: 'q', body: JSON.stringify(index), ...more }));
const operations = (meter: Meter): readonly string[] => meter.entries().map(({ operation }) => operation);
const now = { max: 10, visibilityMs: 30_000, waitMs: 0 };

/** Entries that the queue hands to SQS, one by one. */
function watchEntries(sqs: SQSClient): SendMessageBatchRequestEntry[] {
  const entries: SendMessageBatchRequestEntry[] = [];
  const stack = sqs.middlewareStack;
  stack.add(
    (next) => (args) => {
      const { Entries = [] } = args.input as { Entries?: SendMessageBatchRequestEntry[] };
      entries.push(...Entries);
      return next(args);
    },
    { step: 'initialize' },
  );
  return entries;
}

type Batch = { output: { Successful?: { Id: string }[]; Failed?: { Id: string; Code: string; SenderFault: boolean }[] } };

/** Makes the first batches of an operation report their last entry as failed. */
function failLast(sqs: SQSClient, operation: string, times: number, SenderFault: boolean): void {
  let left = times;
  interfere(sqs, operation, async (proceed) => {
    const { output } = (await proceed()) as Batch;
    const last = output.Successful?.at(-1);
    if (left-- <= 0 || !last) return { output };
    return {
      output: {
        ...output,
        Successful: output.Successful?.slice(0, -1),
        Failed: [{ Id: last.Id, Code: SenderFault ? 'InvalidMessageContents' : 'InternalError', SenderFault }],
      },
    };
  });
}

test('messages are sent in batches of ten, and the queue is looked up once', async () => {
  const { queues, meter } = await open();
  await queues.send(messages(25));
  await queues.send(messages(1));
  assert.deepEqual(operations(meter).toSorted(), ['GetQueueUrl', ...listOf(4, () => 'SendMessageBatch')]);
});

test('messages that are too large together are sent separately, and a message that is too large alone is refused', async () => {
  const { queues, meter } = await open();
  const large = (bytes: number): Outgoing => ({ queue: 'q', body: JSON.stringify('x'.repeat(bytes)) });
  await queues.send([large(600_000), large(600_000), large(400_000)]);
  assert.deepEqual(operations(meter), ['GetQueueUrl', 'SendMessageBatch', 'SendMessageBatch']);
  await assert.rejects(queues.send([large(1_100_000)]), /BatchRequestTooLong|shorter than|longer than/);
});

test('a failed entry is sent again, alone', async () => {
  const { queues, sqs } = await open();
  const entries = watchEntries(sqs);
  failLast(sqs, 'SendMessageBatch', 2, false);
  await queues.send(messages(3));
  assert.deepEqual(
    entries.map(({ Id }) => Id),
    ['0', '1', '2', '2', '2'],
  );
});

test('a send rejects if entries are refused or keep failing', async () => {
  const refused = await open();
  failLast(refused.sqs, 'SendMessageBatch', 1, true);
  await assert.rejects(refused.queues.send(messages(3)), /the queue refused 1 of 3 entries: InvalidMessageContents/);

  const broken = await open();
  failLast(broken.sqs, 'SendMessageBatch', 100, false);
  await assert.rejects(broken.queues.send(messages(2)), /InternalError/);
  assert.equal(operations(broken.meter).filter((operation) => operation === 'SendMessageBatch').length, 4);
});

test('a failed acknowledgement is retried; an invalid receipt is skipped', async () => {
  const { queues, sqs } = await open();
  await queues.send(messages(2));
  const receipts = (await queues.receive('q', now)).map(({ receipt }) => receipt);
  failLast(sqs, 'ChangeMessageVisibilityBatch', 1, false);
  await queues.release('q', receipts, 30_000);
  failLast(sqs, 'DeleteMessageBatch', 1, true);
  await queues.acknowledge('q', receipts);
  await queues.acknowledge('q', ['', 'nonsense']);
  await queues.acknowledge('q', []);
});

test('a deleted queue is an error for senders and receivers, until it exists again', async () => {
  const { queues, sqs, prefix } = await open();
  for (const call of [queues.send([{ queue: 'gone', body: '1' }]), queues.receive('gone', now), queues.depth('gone')]) {
    await assert.rejects(call, new RegExp(`Queue ${prefix}gone does not exist`));
  }
  await createQueue(sqs, prefix, 'gone', undefined);
  await queues.send([{ queue: 'gone', body: '1' }]);
  assert.equal((await queues.depth('gone')).visible, 1);
});

test('a queue URL never decides the endpoint of a request', async () => {
  const { queues, sqs } = await open();
  const hosts = new Set<string>();
  sqs.middlewareStack.add(
    (next) => (args) => {
      const { hostname, port } = args.request as { hostname: string; port: number };
      hosts.add(`http://${hostname}:${port}`);
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low' },
  );
  interfere(sqs, 'GetQueueUrl', async (proceed) => {
    const { output } = (await proceed()) as { output: { QueueUrl: string } };
    return { output: { QueueUrl: output.QueueUrl.replace(/127\.0\.0\.1|localhost/, '169.254.169.254') } };
  });
  await queues.send(messages(1));
  assert.deepEqual([...hosts], [fauxqs.endpoint]);
});

test('delays are whole seconds, rounded up, and at most fifteen minutes; the group of a message becomes a valid MessageGroupId', async () => {
  const { queues, sqs } = await open();
  const entries = watchEntries(sqs);
  await queues.send([
    ...messages(1),
    ...[1, 1000, 1001, 900_000, 5_000_000].map((delayMs): Outgoing => ({ queue: 'q', body: '1', delayMs })),
  ]);
  await queues.send(messages(1, { group: 'client Ü' }));
  assert.deepEqual(
    entries.map(({ DelaySeconds }) => DelaySeconds),
    [undefined, 1, 1, 2, 900, 900, undefined],
  );
  assert.deepEqual(entries.map(({ MessageGroupId }) => MessageGroupId).filter(Boolean), ['client__']);
});

test('the group of a message is requested, and reported if SQS returns it', async () => {
  const { queues, sqs } = await open();
  await queues.send(messages(1, { group: 'acme' }));
  const requested: unknown[] = [];
  sqs.middlewareStack.add(
    (next) => async (args) => {
      const { MessageSystemAttributeNames } = args.input as { MessageSystemAttributeNames?: readonly string[] };
      const answer = await next(args);
      if (!MessageSystemAttributeNames) return answer;
      requested.push(MessageSystemAttributeNames.includes('MessageGroupId'));
      const { Messages = [] } = answer.output as { Messages?: { Attributes?: object }[] };
      for (const message of Messages) message.Attributes = { ...message.Attributes, MessageGroupId: 'acme' };
      return answer;
    },
    { step: 'initialize' },
  );
  const [received] = await queues.receive('q', now);
  assert.deepEqual([requested, received?.group], [[true], 'acme']);
});

test('JSON text with characters that SQS refuses arrives with the same meaning', async () => {
  const { queues } = await open();
  const value = { text: 'a\u0000\ufffe\uffff\ud800😀' };
  await queues.send([{ queue: 'q', body: JSON.stringify(value) }]);
  const [received] = await queues.receive('q', now);
  assert.deepEqual(JSON.parse(received?.body ?? ''), value);
});
