import { readFileSync } from 'node:fs';
import type { Agent } from 'node:http';
import type { Role } from '#api/authentication';
import { openLocalIssuer } from '#api/local-issuer';
import { queueNames } from '#ports/messages';
import { taskIdOf } from '#roles/exceptions/ids';
import { root, type Site, until } from '../../../test/processes/support.ts';
import type { OpenApiDocument } from './document.ts';
import type { Surroundings } from './draft.ts';
import { call } from './http.ts';

export const sample = (name: string): object =>
  (JSON.parse(readFileSync(`${root}examples/orders/samples/${name}.json`, 'utf8')) as { order: object }).order;

export interface Prepared {
  readonly document: OpenApiDocument;
  readonly around: Surroundings;
  /** Submits an order without defects as the client `other`, and waits until it is `Processed`. */
  submitGood(key: string): Promise<string>;
}

/** Fills a fresh system with what bad requests refer to: orders, two clients, two dead letters, lists of two pages. */
export async function prepare(agent: Agent, url: string, { data, open }: Site): Promise<Prepared> {
  const issuer = openLocalIssuer(data);
  const tokens = {
    client: await issuer.sign({ role: 'client', client: 'acme' }),
    operator: await issuer.sign({ role: 'operator', subject: 'olga' }),
    admin: await issuer.sign({ role: 'admin', subject: 'ada' }),
    clientless: await issuer.sign({ role: 'client' }),
    visitor: await issuer.sign({ role: 'visitor' as Role }),
  };
  const other = await issuer.sign({ role: 'client', client: 'other' });
  const submit = async (token: string, name: string, key: string): Promise<string> =>
    (
      await call<{ orderId: string }>(agent, url, 'POST /orders', {
        token,
        body: { order: sample(name) },
        headers: { 'idempotency-key': key },
      })
    ).orderId;
  const ends = (orderId: string, processState: string) =>
    until(`the order is ${processState}`, async () => (await open().store.head(orderId))?.processState === processState);

  const own = await submit(tokens.client, 'address-invalid', 'used');
  const foreign = await submit(other, 'ok', 'used');
  await Promise.all([ends(own, 'Error'), ends(foreign, 'Processed')]);
  for (const id of ['acme', 'other'])
    await call(agent, url, `PUT /clients/${id}`, {
      token: tokens.admin,
      body: { responseChannels: [`redress-response-${id}`], senders: ['local'], reason: 'a test' },
    });
  await open().queues.send([1, 2].map((number) => ({ queue: queueNames.submissions, body: `nonsense ${number}` })));
  const letters = await until('two dead letters are listed', async () => {
    const { items } = await call<{ items: readonly { id: string }[] }>(agent, url, 'GET /channels/submissions/dead-letters', {
      token: tokens.operator,
    });
    return items.length === 2 && items;
  });
  const cursorOf = async (path: string, token: string): Promise<string> =>
    (await call<{ next: string }>(agent, url, `GET ${path}?limit=1`, { token })).next;
  const around: Surroundings = {
    tokens,
    own: { orderId: own, etag: (await call(agent, url, `GET /orders/${own}`, { token: tokens.client })).etag },
    foreign,
    task: taskIdOf(own, 1),
    usedKey: 'used',
    channel: 'submissions',
    deadLetter: letters[0]?.id ?? '',
    client: { id: 'acme', etag: '"1"' },
    cursors: {
      '/orders': await cursorOf('/orders', tokens.operator),
      '/orders/{id}/history': await cursorOf(`/orders/${own}/history`, tokens.client),
      '/orders/{id}/export': await cursorOf(`/orders/${own}/export`, tokens.operator),
      '/channels': await cursorOf('/channels', tokens.operator),
      '/channels/{name}/dead-letters': await cursorOf('/channels/submissions/dead-letters', tokens.operator),
      '/clients': await cursorOf('/clients', tokens.admin),
      '/audit': await cursorOf('/audit', tokens.operator),
    },
  };
  const document = await call<OpenApiDocument>(agent, url, 'GET /openapi.json', { token: other });
  return {
    document,
    around,
    submitGood: async (key) => {
      const orderId = await submit(other, 'ok', key);
      await ends(orderId, 'Processed');
      return orderId;
    },
  };
}
