import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { isPrivateAddress } from '#adapters/webhooks/private-addresses';
import { webhookSender } from '#adapters/webhooks/sender';
import type { PeopleMessage } from '#core/notifications/message';

const secret = `whsec_${Buffer.from('a secret of at least 24 bytes').toString('base64')}`;
const credentials = { read: async (name: string) => (name === 'NOTIFY_SECRET' ? secret : undefined) };
const message: PeopleMessage = {
  id: 'ntf_1',
  type: 'task.opened',
  at: 1_800_000_000_000,
  subject: 'line is blocked at pick: Broken',
  text: 'Order ord_1 of line is blocked.',
  data: { group: 'operators', orderId: 'ord_1' },
};

interface Receiver {
  readonly url: string;
  readonly host: string;
  readonly got: { readonly headers: IncomingMessage['headers']; readonly body: string }[];
}

/** Starts a receiver on this machine that answers each call with the next status. */
async function receiver(
  context: TestContext,
  statuses: readonly number[],
  headers: { readonly [name: string]: string } = {},
): Promise<Receiver> {
  const got: { readonly headers: IncomingMessage['headers']; readonly body: string }[] = [];
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      got.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
      response.writeHead(statuses[got.length - 1] ?? 200, headers).end('thanks');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook?token=canary`, host: `127.0.0.1:${port}`, got };
}

describe('a webhook', () => {
  test('F-153: gets a message that is signed as Standard Webhooks defines, with the same id in each try', async (context) => {
    const { url, host, got } = await receiver(context, [503, 200]);
    const send = webhookSender({ hosts: [host], credentials });
    const destination = { kind: 'webhook', url, credential: 'NOTIFY_SECRET' } as const;
    assert.deepEqual(await send(message, destination), { outcome: 'failed', reason: 'The receiver answered 503; expected 2xx.' });
    assert.deepEqual(await send(message, destination), { outcome: 'delivered' });
    for (const { headers, body } of got) {
      const payload = new Webhook(secret).verify(body, headers as Record<string, string>);
      assert.deepEqual(payload, {
        type: 'task.opened',
        timestamp: '2027-01-15T08:00:00.000Z',
        data: { group: 'operators', orderId: 'ord_1', subject: message.subject, text: message.text },
      });
      assert.equal(headers['webhook-id'], 'ntf_1');
    }
  });

  test('is not called if the deployment does not name its host', async (context) => {
    const { url, host, got } = await receiver(context, []);
    const reasonFor = async (hosts: readonly string[], address = url) => {
      const result = await webhookSender({ hosts, credentials })(message, { kind: 'webhook', url: address, credential: 'NOTIFY_SECRET' });
      return result.outcome === 'failed' ? result.reason : result.outcome;
    };
    assert.match(await reasonFor([]), /^The host 127\.0\.0\.1 is not among NOTIFY_HOSTS/);
    assert.match(await reasonFor([host.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10))]), /not among NOTIFY_HOSTS/);
    assert.match(await reasonFor(['hooks.example'], 'http://hooks.example/'), /^The URL begins with http:; expected https:/);
    assert.match(await reasonFor(['hooks.example'], 'https://ann:pw@hooks.example/'), /^The URL has a user or a password/);
    assert.deepEqual(got, []);
  });

  test('that redirects makes the try fail: the other address is not called', async (context) => {
    const other = await receiver(context, []);
    const { url, host } = await receiver(context, [302], { location: other.url });
    const result = await webhookSender({ hosts: [host, other.host], credentials })(message, {
      kind: 'webhook',
      url,
      credential: 'NOTIFY_SECRET',
    });
    assert.deepEqual(result, { outcome: 'failed', reason: 'The receiver answered 302; expected 2xx.' });
    assert.deepEqual(other.got, []);
  });

  test('that is silent, is unreachable or has no secret makes the try fail, with a reason that contains neither path nor secret', async (context) => {
    const { url, host } = await receiver(context, []);
    const silent = createServer(() => undefined);
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    context.after(() => silent.close().closeAllConnections());
    const silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/hook?token=canary`;
    const reasonFor = async (address: string, credential = 'NOTIFY_SECRET', read = credentials.read) => {
      const send = webhookSender({ hosts: ['127.0.0.1'], credentials: { read }, timeoutMs: 50 });
      const result = await send(message, { kind: 'webhook', url: address, credential });
      return result.outcome === 'failed' ? result.reason : result.outcome;
    };
    const reasons = [
      await reasonFor(silentUrl),
      await reasonFor('http://127.0.0.1:9/hook?token=canary'),
      await reasonFor(url, 'OTHER'),
      await reasonFor(url, 'NOTIFY_SECRET', async () => 'whsec_not base64 canary'),
    ];
    assert.deepEqual(reasons, [
      'The receiver did not answer in time.',
      'The receiver cannot be reached (ECONNREFUSED).',
      'The deployment has no credential OTHER. Add it, then the next try uses it.',
      'The credential NOTIFY_SECRET is not a secret of Standard Webhooks: expected whsec_ and base64.',
    ]);
    assert.ok(!reasons.join().includes('canary'), host);
  });
});

test('addresses of private networks are recognized, even inside addresses of IP version 6', () => {
  for (const address of [
    '10.1.2.3',
    '127.0.0.1',
    '169.254.169.254',
    '192.168.1.1',
    '172.31.0.1',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    'fd00::1',
    'fe80::1',
    '::ffff:10.0.0.1',
  ])
    assert.ok(isPrivateAddress(address), address);
  for (const address of ['93.184.216.34', '172.32.0.1', '2606:2800:220:1::1', '::ffff:93.184.216.34'])
    assert.ok(!isPrivateAddress(address), address);
});
