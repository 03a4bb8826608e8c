import assert from 'node:assert/strict';
import { test } from 'node:test';
import { awsCredentials, type FetchCredential, readCredentialPlaces } from '#adapters/aws/credentials';
import { manualClock } from '#ports/clock';
import { SetupError } from '#ports/errors';

const places = readCredentialPlaces('{"PAYMENT_KEY":{"secret":"arn:payment","field":"key"},"SHIPPING_KEY":{"parameter":"/shipping"}}');

function opened(fetch: FetchCredential) {
  const clock = manualClock(0);
  const logged: string[] = [];
  const telemetry = { log: (_level: string, message: string) => void logged.push(message) };
  return { clock, logged, credentials: awsCredentials(places, { clock, telemetry, fetch }) };
}

test('an agent has a credential from its cold start on, and a changed value within five minutes', async () => {
  let version = 1;
  let fetched = 0;
  const { clock, credentials } = opened(async () => `v${version} (${++fetched})`);
  await credentials.prefetch();
  assert.equal(fetched, 2);
  version = 2;
  assert.equal(await credentials.read('PAYMENT_KEY'), 'v1 (1)');
  await clock.advance(300_000);
  const both = await Promise.all([credentials.read('PAYMENT_KEY'), credentials.read('PAYMENT_KEY')]);
  assert.deepEqual(both, ['v2 (3)', 'v2 (3)']);
  assert.equal(await credentials.read('UNKNOWN'), undefined);
});

test('while the store of credentials is unavailable, the previous value is used; without a previous value, the read fails', async () => {
  let isAway = true;
  const { clock, credentials, logged } = opened(async () => (isAway ? Promise.reject(new Error('away')) : 'v1'));
  await credentials.prefetch();
  await assert.rejects(credentials.read('PAYMENT_KEY'), /away/);
  isAway = false;
  assert.equal(await credentials.read('PAYMENT_KEY'), 'v1');
  isAway = true;
  await clock.advance(300_000);
  assert.equal(await credentials.read('PAYMENT_KEY'), 'v1');
  assert.equal(new Set(logged).size, 1);
});

test('a malformed variable of credentials is refused with a remedy, and is not quoted', () => {
  for (const text of ['no JSON', '{"A":{"secret":""}}', '{"A":"plain"}'])
    assert.throws(
      () => readCredentialPlaces(text),
      (error) => error instanceof SetupError && /agentCredentials/.test(error.remedy) && !/plain/.test(error.message),
    );
});
