import assert from 'node:assert/strict';
import { describe, test } from '@jest/globals';
import { defineAgent, defineApp, operation } from 'redress';
import * as z from 'zod';
import type { FunctionSettings } from '#infrastructure/lambda-function';
import { SetupError } from '#ports/errors';
import { hiddenMs, queueFigures } from '#ports/limits';
import { queueNames } from '#ports/messages';
import { topologyOf } from '#runtime/topology';
import app from './app.ts';
import { nameOf } from './policies.ts';
import { defaults, functionOf, ofType, type Resource, synthesize } from './support.ts';

const stack = defaults();
const { queuePrefix, functions: all } = stack.orders;

const queueOf = (name: string): Resource['Properties'] => {
  const found = ofType(stack, 'SQS::Queue').find(([, { Properties }]) => Properties['QueueName'] === queuePrefix + name);
  if (!found) throw new Error(`There is no queue ${name}.`);
  return found[1].Properties;
};
const named = (resource: unknown): string => nameOf(resource, stack.resources, queuePrefix).replace('queue/', '');
const redriveOf = (name: string) =>
  queueOf(name)['RedrivePolicy'] as { readonly deadLetterTargetArn: unknown; readonly maxReceiveCount: number } | undefined;

const mappings = ofType(stack, 'Lambda::EventSourceMapping').map(([, { Properties }]) => ({
  queue: named(Properties['EventSourceArn']),
  job: String(stack.resources[(Properties['FunctionName'] as { Ref: string }).Ref]?.Properties['Description']).replace('Redress: ', ''),
  ...Properties,
}));

const pairs = ['stock', 'post'].flatMap((agent) => [queueNames.requests(agent), queueNames.replies(agent)]);
const consumed = [
  ...pairs,
  queueNames.calls,
  queueNames.callReplies,
  queueNames.wakeUps,
  queueNames.submissions,
  queueNames.messages('ledger'),
];

describe('the queues of a deployment', () => {
  test('F-35, F-174: each agent has a request queue that it alone reads, and a reply queue that the scheduler reads; each consumer reads its own queue', () => {
    const readers = Object.fromEntries(mappings.map(({ queue, job }) => [queue, job]));
    assert.deepEqual(readers, {
      'stock-requests': 'agent-stock',
      'post-requests': 'agent-post',
      'stock-replies': 'scheduler',
      'post-replies': 'scheduler',
      'workflows-requests': 'children',
      'workflows-replies': 'scheduler',
      'wake-ups': 'scheduler',
      submissions: 'submissions',
      'ledger-messages': 'consumer-ledger',
      ...Object.fromEntries(consumed.map((queue) => [`${queue}-dead`, 'dead-letter'])),
    });
    assert.equal(mappings.length, 2 * consumed.length);
  });

  test('F-35, X-9: a message that is delivered a thousand times without success goes to the dead-letter queue of its queue, and no further', () => {
    for (const queue of consumed) {
      const { deadLetterTargetArn, maxReceiveCount } = redriveOf(queue) ?? {};
      assert.deepEqual([named(deadLetterTargetArn), maxReceiveCount], [`${queue}-dead`, queueFigures.deliveriesMax]);
      assert.equal(redriveOf(`${queue}-dead`), undefined);
    }
  });

  test('F-35, X-9: queues and functions have the same figures as the host and the simulation', () => {
    for (const spec of topologyOf(app)) {
      assert.equal(Number(functionOf(stack, spec.name)['Timeout']) * 1000, spec.timeoutMs, spec.name);
      for (const { queue, batchSize, maxReceiveCount } of spec.sources) {
        const mapping = mappings.find((each) => each.queue === queue) as Resource['Properties'] | undefined;
        assert.deepEqual([mapping?.['BatchSize'], mapping?.['MaximumBatchingWindowInSeconds']], [batchSize, queueFigures.windowMs / 1000]);
        const { VisibilityTimeout, MaximumMessageSize } = queueOf(queue);
        assert.deepEqual([VisibilityTimeout, MaximumMessageSize], [hiddenMs(spec) / 1000, queueFigures.messageBytesMax], queue);
        assert.equal(redriveOf(queue)?.maxReceiveCount, queue.endsWith('-dead') ? undefined : maxReceiveCount);
      }
    }
  });

  test('F-35: failures are reported per message of a batch, and the number of concurrent batches is limited', () => {
    for (const mapping of mappings) {
      const { FunctionResponseTypes, ScalingConfig, BatchSize } = mapping as Resource['Properties'];
      const MaximumConcurrency = mapping.queue.endsWith('-dead') ? 2 : 50;
      assert.deepEqual([FunctionResponseTypes, ScalingConfig, BatchSize], [['ReportBatchItemFailures'], { MaximumConcurrency }, 10]);
    }
  });

  test('all queues together use at most half of an account with 1,000 instances, except for dead letters', () => {
    const input = z.object({ a: z.string() });
    const work = operation({ input, output: input, run: (given) => given });
    const agents = Array.from({ length: 14 }, (_, index) => defineAgent(`agent-${index}`, { work }));
    const scaling = ofType(synthesize({ props: { app: defineApp({ workflows: [], agents }) } }), 'Lambda::EventSourceMapping').map(
      ([, { Properties }]) => (Properties['ScalingConfig'] as { MaximumConcurrency: number }).MaximumConcurrency,
    );
    assert.equal(scaling.length, 60);
    assert.deepEqual([...new Set(scaling)].toSorted(), [16, 2]);
    assert.ok(scaling.reduce((sum, each) => sum + each, 0) <= 500 + 60);
  });

  test('every queue keeps its messages for two weeks, is encrypted with the key of the stack, and accepts TLS only', () => {
    const key = { 'Fn::GetAtt': [ofType(stack, 'KMS::Key')[0]?.[0], 'Arn'] };
    const denied = new Set(
      ofType(stack, 'SQS::QueuePolicy').flatMap(([, { Properties }]) => {
        const { Queues, PolicyDocument } = Properties as { Queues: [{ Ref: string }]; PolicyDocument: { Statement: readonly object[] } };
        const [first] = PolicyDocument.Statement;
        assert.partialDeepStrictEqual(first, {
          Effect: 'Deny',
          Action: 'sqs:*',
          Principal: { AWS: '*' },
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        });
        return Queues.map(({ Ref }) => Ref);
      }),
    );
    for (const [id, { Properties }] of ofType(stack, 'SQS::Queue')) {
      assert.deepEqual([Properties['MessageRetentionPeriod'], Properties['KmsMasterKeyId']], [1_209_600, key], id);
      assert.ok(denied.has(id), id);
    }
  });

  test('no other account may send to a queue, and EventBridge only to its dead-letter queue', () => {
    const senders = ofType(stack, 'SQS::QueuePolicy').flatMap(([, { Properties }]) => {
      const { Queues, PolicyDocument } = Properties as unknown as {
        Queues: [{ Ref: string }];
        PolicyDocument: { Statement: readonly { Effect: string; Principal: { Service?: string }; Condition?: object }[] };
      };
      return PolicyDocument.Statement.filter(({ Effect }) => Effect === 'Allow').map(({ Principal, Condition }) => ({
        to: named({ 'Fn::GetAtt': [Queues[0].Ref, 'Arn'] }),
        from: Principal.Service,
        isLimited: Condition !== undefined,
      }));
    });
    // The bus, its two rules, and four schedules.
    assert.deepEqual(senders, Array(7).fill({ to: 'undelivered', from: 'events.amazonaws.com', isLimited: true }));
  });
});

test('the maximum concurrency and the reserved concurrency of a function can be set', () => {
  const { resources } = synthesize({
    props: { functions: { 'agent-stock': { maxConcurrency: 7, reservedConcurrency: 9, memorySize: 1024 } } },
  });
  const stock = functionOf({ resources }, 'agent-stock');
  const post = functionOf({ resources }, 'agent-post');
  assert.deepEqual([stock['ReservedConcurrentExecutions'], stock['MemorySize']], [9, 1024]);
  assert.deepEqual([post['ReservedConcurrentExecutions'], post['MemorySize']], [undefined, 512]);
  const limits = ofType({ resources }, 'Lambda::EventSourceMapping').map(([, { Properties }]) => Properties['ScalingConfig']);
  assert.equal(limits.filter((limit) => (limit as { MaximumConcurrency: number }).MaximumConcurrency === 7).length, 1);
  assert.ok(all.size > 2);
});

describe('reserved concurrency suffices for all queues of a function, so that Lambda throttles no message', () => {
  const readBy = (name: string) => mappings.filter(({ job }) => job === name).length;
  const limitsOf = (functions: { readonly [name: string]: FunctionSettings }, name: string): readonly unknown[] => {
    const { resources } = synthesize({ props: { functions } });
    return ofType({ resources }, 'Lambda::EventSourceMapping')
      .filter(([, { Properties }]) => {
        const { Ref } = Properties['FunctionName'] as { Ref: string };
        return resources[Ref]?.Properties['Description'] === `Redress: ${name}`;
      })
      .map(([, { Properties }]) => (Properties['ScalingConfig'] as { MaximumConcurrency: number }).MaximumConcurrency);
  };
  const refused = (name: string, settings: FunctionSettings, says: RegExp, remedy: RegExp): void =>
    assert.throws(
      () => synthesize({ props: { functions: { [name]: settings } } }),
      (error: unknown) => error instanceof SetupError && says.test(error.message) && remedy.test(error.remedy),
    );

  test('each queue has an equal share of the reservation, but never more than without a reservation', () => {
    assert.equal(readBy('scheduler'), 4);
    assert.deepEqual(limitsOf({ scheduler: { reservedConcurrency: 99 } }, 'scheduler'), [24, 24, 24, 24]);
    assert.deepEqual(limitsOf({ scheduler: { reservedConcurrency: 900 } }, 'scheduler'), [50, 50, 50, 50]);
    assert.deepEqual(limitsOf({ scheduler: { reservedConcurrency: 100, maxConcurrency: 25 } }, 'scheduler'), [25, 25, 25, 25]);
  });

  test('a higher maximum concurrency than the reservation allows is refused', () => {
    const settings = { reservedConcurrency: 100, maxConcurrency: 26 };
    refused(
      'scheduler',
      settings,
      /scheduler consumes 4 queues.* 26 .* 104 .* 100/,
      /maxConcurrency to 25 or less.* reservedConcurrency to 104 or more/,
    );
    refused(
      'scheduler',
      { reservedConcurrency: 7 },
      /scheduler consumes 4 queues.* 2 .* 8 .* 7/,
      /reservedConcurrency to 8 or more, or omit it/,
    );
  });

  test('a function without queues may have any reservation', () => {
    assert.equal(
      functionOf(synthesize({ props: { functions: { api: { reservedConcurrency: 1 } } } }), 'api')['ReservedConcurrentExecutions'],
      1,
    );
  });
});
