import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, PermanentFailure, secret, sequence } from 'redress';
import { Webhook } from 'standardwebhooks';
import * as z from 'zod';
import { createSystemNotifier } from '#runtime/notifier';
import { openDesk, submitted } from '../support.ts';

const signing = `whsec_${Buffer.from('a secret of at least 24 bytes').toString('base64')}`;

interface Received {
  readonly type: string;
  readonly data: { readonly text: string; readonly orderId: string; readonly command: string };
}

/** Starts a receiver on this machine that keeps the messages whose signature is right. */
async function receiver(context: TestContext) {
  const got: { readonly id: string; readonly payload: Received; readonly body: string }[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const payload = new Webhook(signing).verify(body, request.headers as Record<string, string>) as Received;
      got.push({ id: String(request.headers['webhook-id']), payload, body });
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

const till = defineAgent('worker', {
  charge: operation({
    input: z.object({ card: secret(z.string()) }),
    output: z.object({}),
    run: ({ card }) => {
      throw new PermanentFailure('Refused', `The bank refuses ${card}.`, { data: { card } });
    },
  }),
});
const shop = defineApp({
  workflows: [
    defineWorkflow('line', { version: 1, order: z.object({ card: secret(z.string()) }) }, ({ order }) =>
      sequence(till.charge({ card: order.card })),
    ),
  ],
  agents: [till],
});

test('F-153: a receiver gets one signed message about a blocked order over HTTP, and no secret of the order is in it', async (context) => {
  const { got, url } = await receiver(context);
  context.after(() => delete process.env['SECRET_OF_TEST']);
  process.env['SECRET_OF_TEST'] = signing;
  const desk = openDesk(context, shop, { variables: { NOTIFY_URL: url, NOTIFY_CREDENTIAL: 'SECRET_OF_TEST' } });
  const orderId = await submitted(desk, { card: 'tok_canary_17' });
  await desk.deliver('worker-requests');
  await desk.deliver('worker-replies');
  const notifier = createSystemNotifier(desk.system);
  await notifier.pass();
  await notifier.pass();
  assert.equal(got.length, 1);
  assert.partialDeepStrictEqual(got[0]?.payload, {
    type: 'task.opened',
    data: { orderId, command: `npx redress order get ${orderId}` },
  });
  assert.match(got[0]?.payload.data.text ?? '', /is blocked at order\/charge since .*: Refused\. The bank refuses \[secret\]\./);
  assert.ok(!got[0]?.body.includes('canary'), got[0]?.body);
  assert.ok(!desk.log.join().includes(signing));
});
