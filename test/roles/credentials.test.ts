import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Call, PermanentFailure } from 'redress';
import type { Credentials } from '#ports/credentials';
import type { Reply } from '#ports/messages';
import { createAgent } from '#roles/agent/agent';
import { environmentCredentials } from '#runtime/credentials';
import { lineOf, openDesk, submitted, timePasses } from './support.ts';

const key = 'sk-4242-4242';

/** Returns the fault with which an operation ends that quotes its credential. */
async function replyWith(context: TestContext, credentials: Credentials) {
  const pick = async (_: object, call: Call<string>): Promise<never> => {
    throw new PermanentFailure('Refused', `The service refused ${await call.credential('PAYMENT_KEY')}.`);
  };
  const desk = openDesk(context, lineOf({ pick }));
  await submitted(desk);
  const agent = createAgent(desk.system.definitions.agents[0] ?? assert.fail(), { ...desk.system, credentials });
  await timePasses(desk.clock, agent(await desk.request()));
  const [reply] = desk.messages('worker-replies') as unknown as readonly Reply[];
  return reply?.result.status === 'failed' ? reply.result.fault : assert.fail();
}

test('G21: an operation reads a credential at each call, and no fault quotes it', async (context) => {
  const { type, message } = await replyWith(context, environmentCredentials({ PAYMENT_KEY: key }));
  assert.equal(type, 'Refused');
  assert.match(message, /The service refused \S+\./);
  assert.doesNotMatch(message, /4242/);
});

test('a credential that is not set fails the step as NotConfigured, with the names of its variables', async (context) => {
  const { type, message, permanent } = await replyWith(context, environmentCredentials({}));
  assert.deepEqual([type, permanent], ['NotConfigured', true]);
  assert.match(message, /PAYMENT_KEY or PAYMENT_KEY_FILE/);
});

test('a credential that cannot be read now is read again later, and the fault does not quote the reason', async (context) => {
  const { message, permanent } = await replyWith(context, { read: () => Promise.reject(new Error('denied for arn:secret')) });
  assert.equal(permanent, false);
  assert.match(message, /The credential PAYMENT_KEY cannot be read at present/);
  assert.doesNotMatch(message, /arn/);
});

test('on one machine a credential is a variable or a mounted file, whose new content needs no restart', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'redress-credentials-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'key');
  const credentials = environmentCredentials({ PAYMENT_KEY_FILE: file, OTHER_KEY: 'other' });
  for (const content of ['first', 'second']) {
    writeFileSync(file, `${content}\n`);
    assert.equal(await credentials.read('PAYMENT_KEY'), content);
  }
  assert.equal(await credentials.read('OTHER_KEY'), 'other');
  assert.equal(await credentials.read('NO_KEY'), undefined);
});
