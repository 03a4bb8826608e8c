import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { lambdaConsumers } from '#adapters/aws/event-source-mappings';
import { openEmbedded } from '#adapters/sqlite/open';
import { manualClock } from '#ports/clock';
import { createTelemetry } from '#ports/telemetry';
import { createChannelReconciler } from '#roles/channels/reconciler';
import { closed, opened } from '#roles/channels/state';
import { startLambdaApi } from '../support/lambda-api.ts';
import { consumersContract } from './consumers.contract.ts';

const lambda = await startLambdaApi();
after(() => lambda.stop());
const queueArns = 'arn:aws:sqs:eu-central-1:000000000000:redress-';
const client = new LambdaClient({
  region: 'eu-central-1',
  endpoint: lambda.endpoint,
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  maxAttempts: 1,
});
const consumersOf = () => lambdaConsumers({ client: async () => client, queueArns });
const stateOf = (queue: string): string => lambda.stateOf(queueArns + queue);

consumersContract('Lambda in its protocol', async () => ({
  consumers: consumersOf(),
  other: consumersOf(),
  queues: ['stock-requests', 'stock-replies'],
  isTaken: async (queue) => stateOf(queue) === 'Enabled',
  close: async () => {},
}));

const { store: documents, publisher, database } = openEmbedded(':memory:', { clock: manualClock() });
after(() => database.close());
const alerting = { documents, publisher };

test('an event source mapping that is already in the requested state is not changed', async () => {
  await consumersOf().set(['a-requests'], 'closed');
  const before = lambda.changes();
  for (let time = 0; time < 3; time++) await consumersOf().set(['a-requests'], 'closed');
  assert.equal(lambda.changes(), before);
});

test('F-108: a temporary refusal of Lambda is retried in the next pass, and reported until then', async () => {
  const clock = manualClock();
  const lines: string[] = [];
  const telemetry = createTelemetry({ write: (line) => void lines.push(line) });
  const keeper = createChannelReconciler({ ...alerting, consumers: consumersOf(), clock, telemetry });
  const state = closed(undefined, 'b', ['b-requests'], { by: 'olga', reason: '', now: clock.now() });
  lambda.isBusy(2);
  const seen: string[] = [];
  for (let pass = 1; pass <= 3; pass++) {
    await keeper.follow(new Map([['b', state]]));
    seen.push(stateOf('b-requests'));
  }
  assert.deepEqual(seen, ['Enabled', 'Enabled', 'Disabled']);
  assert.equal(lines.filter((line) => line.includes('failed to set consumer state')).length, 2);
});

test('F-108: if something else enables the mapping of a closed channel, it is disabled within a minute; opening the channel enables it', async () => {
  const clock = manualClock();
  const keeper = createChannelReconciler({ ...alerting, consumers: consumersOf(), clock, telemetry: createTelemetry({ level: 'off' }) });
  const state = closed(undefined, 'c', ['c-replies'], { by: 'olga', reason: '', now: clock.now() });
  await keeper.follow(new Map([['c', state]]));
  await consumersOf().set(['c-replies'], 'open');
  await consumersOf().set(['c-requests'], 'closed');
  await clock.advance(60_000);
  await keeper.follow(new Map([['c', state]]));
  assert.deepEqual([stateOf('c-replies'), stateOf('c-requests')], ['Disabled', 'Enabled']);
  await keeper.follow(new Map([['c', opened(state, { by: 'olga', reason: '', now: clock.now() })]]));
  assert.deepEqual([stateOf('c-replies'), stateOf('c-requests')], ['Enabled', 'Enabled']);
});
