import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { KMSClient } from '@aws-sdk/client-kms';
import { kmsKeys } from '#adapters/aws/kms-keys';
import { openEmbedded } from '#adapters/sqlite/open';
import { manualClock } from '#ports/clock';
import { StoreUnavailableError } from '#ports/errors';
import { startKms } from '../../support/emulators.ts';

const kms = await startKms();
after(kms.stop);
const clock = manualClock();
const { store, database } = openEmbedded(':memory:', { clock });
after(() => database.close());
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const client = new KMSClient({ region: 'eu-central-1', endpoint: kms.endpoint, credentials, maxAttempts: 1 });
const process = () => kmsKeys({ client: async () => client, keyId: 'secrets', documents: store, clock });
const text = (key: Uint8Array) => Buffer.from(key).toString('base64');

test('A9: KMS makes one key a day and decrypts it once for each process and hour, however many orders there are', async () => {
  const [one, other] = [process(), process()];
  const { day, key } = await one.today();
  for (let order = 0; order < 100; order++) for (const each of [one, other]) assert.equal(text((await each.today()).key), text(key));
  assert.equal(text((await other.of(day)).key), text(key));
  assert.deepEqual(kms.calls, { GenerateDataKey: 1, Decrypt: 1 });
  await clock.jump(3_600_001);
  assert.equal(text((await one.of(day)).key), text(key));
  assert.deepEqual(kms.calls, { GenerateDataKey: 1, Decrypt: 2 });
  await clock.jump(86_400_000);
  assert.notEqual(text((await one.today()).key), text(key));
});

test('A9: when two processes begin a day at the same time, both use the same key', async () => {
  await clock.jump(86_400_000);
  const keys = await Promise.all([process().today(), process().today()]);
  assert.equal(new Set(keys.map(({ key }) => text(key))).size, 1);
});

test('A9: while KMS is unavailable, a call fails as if the store were unavailable, and the next call requests the key again', async () => {
  const { day } = await process().today();
  const away = new KMSClient({ region: 'eu-central-1', endpoint: 'http://127.0.0.1:1', credentials, maxAttempts: 1 });
  let at = away;
  const keys = kmsKeys({ client: async () => at, keyId: 'secrets', documents: store, clock });
  await assert.rejects(keys.of(day), StoreUnavailableError);
  at = client;
  assert.equal((await keys.of(day)).day, day);
});
