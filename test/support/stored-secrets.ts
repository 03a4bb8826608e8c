import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { defineAgent, defineApp, defineWorkflow, fault, operation, PermanentFailure, secret, sequence, TransientFailure } from 'redress';
import * as z from 'zod';
import { sortedText } from '#core/data/json';
import { decrypted } from '#ports/util/cipher';
import { eraseSecrets } from '#roles/secrets/erase';
import { registerClient } from '#testing/world/register-client';
import { type Desk, openDesk } from '../roles/support.ts';

const Declined = fault('CardDeclined');
const Order = z.object({ item: z.string(), card: secret(z.string().min(8)) });

/** A shop whose services quote the card wherever they can. */
const payment = defineAgent('worker', {
  charge: operation({
    input: Order,
    output: z.object({ id: z.string(), echo: z.string(), token: secret(z.string()) }),
    faults: [Declined],
    attemptsMax: 2,
    run({ item, card }, call) {
      if (item === 'declined') return call.failed(Declined, `the bank said no to ${card}`, { sent: { card } });
      if (item === 'broken') throw new PermanentFailure('Broken', `cannot charge ${card}`, { data: { card } });
      if (item === 'busy' && call.attempt === 1) throw new TransientFailure(`try ${card} later`);
      if (item === 'wrong') return { id: { card } as never, echo: '', token: '' };
      return { id: 'c-1', echo: card, token: `token of ${card}` };
    },
  }),
  refund: operation({ input: z.object({ token: secret(z.string()) }), output: z.object({}), run: () => ({}) }),
  ship: operation({ input: z.object({ item: z.string(), token: z.string() }), output: z.object({}), run: () => ({}) }),
});
const sale = defineWorkflow('sale', { version: 1, order: Order }, ({ order }) => {
  const charge = payment.charge({ item: order.item, card: order.card }).undo(({ token }) => payment.refund({ token }));
  return sequence(charge, payment.ship({ item: order.item, token: charge.output.token })).on(Declined, ({ compensate }) => compensate());
});
export const shop = defineApp({ workflows: [sale], agents: [payment] });

const items = ['good', 'declined', 'broken', 'busy', 'wrong', 'silent'];
const queues = ['submissions', 'worker-requests', 'worker-replies', 'wake-ups'];

interface Submitted {
  readonly orderId: string;
  readonly card: string;
  /** Texts that somebody who guesses the card could hash, to compare with stored hashes. */
  readonly guesses: readonly string[];
}

export interface Trouble {
  readonly desk: Desk;
  readonly orders: readonly Submitted[];
  /** Cards of messages that never became orders: torn, or invalid. */
  readonly others: readonly string[];
}

const cardOf = (index: number): string => `4111${String(734_502_916_803 + index * 7_919_007).padStart(12, '0')}`;

/** Runs orders with trouble on the embedded store in a folder: declined cards, faults, torn messages, lost replies and resets. */
export async function ordersInTrouble(count: number, desk: Desk): Promise<Trouble> {
  await registerClient(desk.store, { id: 'acme', responseChannels: ['mine'], senders: ['local'] });
  const orders: Submitted[] = [];
  const others: string[] = [];
  for (let index = 0; index < count; index++) {
    const order = { item: items[index % items.length] ?? '', card: cardOf(index) };
    const content = { workflow: 'sale', order, reference: null, responseChannel: 'mine' };
    const message = JSON.stringify({
      v: 1,
      type: 'submission',
      idempotencyKey: `k-${index}`,
      client: 'acme',
      workflow: 'sale',
      order,
      responseChannel: 'mine',
    });
    const guesses = [order.card, JSON.stringify(order), sortedText(order), sortedText(content), JSON.stringify(content), message];
    if (index % 2 === 0) await desk.send('submissions', message);
    else await desk.submit(order, { client: 'acme', key: `k-${index}`, responseChannel: 'mine', workflow: 'sale' });
    if (index % 5 === 0) {
      const [torn, invalid] = [cardOf(count + 2 * index), cardOf(count + 2 * index + 1)];
      others.push(torn, invalid);
      await desk.send('submissions', message.replace(order.card, torn).slice(0, -2));
      await desk.send('submissions', message.replace('"v":1', '"v":"one"').replace(order.card, invalid));
    }
    orders.push({ orderId: '', card: order.card, guesses });
  }
  await desk.deliver('submissions');
  const ids = new Map(
    (desk.database.prepare('SELECT orderId, record FROM orders').all() as { orderId: string; record: string }[]).map(
      ({ orderId, record }) => [orderId, record],
    ),
  );
  // The first requests are lost, and ten of them come back torn. So the supervisor resets their orders.
  const requests = await desk.take('worker-requests');
  for (const request of requests.slice(0, 10)) await desk.send('worker-requests', JSON.stringify(request).slice(0, -2));
  for (let round = 0; round < 12; round++) {
    for (const queue of queues) await desk.deliver(queue);
    if (round % 3 === 2) {
      await desk.clock.jump(70_000);
      await desk.supervisor.pass();
    }
  }
  await desk.deadLetter();
  const { orderIdOf } = await import('#roles/submission/submission');
  return {
    desk,
    others,
    orders: orders.map((each, index) => ({ ...each, orderId: orderIdOf('acme', `k-${index}`) })).filter(({ orderId }) => ids.has(orderId)),
  };
}

/** Returns the forms in which a stored text could hold a card. */
function formsOf(card: string): readonly string[] {
  const bytes = Buffer.from(card);
  const inBase64 = [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift, 'x'), bytes]).toString('base64');
    const inner = text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const hex = bytes.toString('hex');
  return [card, [...card].reverse().join(''), card.slice(-8), hex, hex.toUpperCase(), ...inBase64];
}

/** Returns everything that a desk has stored: all files of its folder byte for byte but the keys, its log and its announcements. */
export const storedIn = (folder: string, desk: Desk): string =>
  [
    ...readdirSync(folder).flatMap((name) => (name === 'keys.json' ? [] : [readFileSync(join(folder, name)).toString('latin1')])),
    desk.log.join('\n'),
    JSON.stringify(desk.announced()),
  ].join('\n');

/** Returns the owners of the texts that occur in a stored text. The stored text is read once for each length, not once for each text. */
function ownersIn(stored: string, texts: readonly (readonly [text: string, owner: string])[]): readonly string[] {
  const found = new Set<string>();
  for (const [length, alike] of Map.groupBy(texts, ([text]) => text.length)) {
    const owners = new Map(alike);
    for (let at = 0; at + length <= stored.length; at++) {
      const owner = owners.get(stored.slice(at, at + length));
      if (owner !== undefined) found.add(owner);
    }
  }
  return [...found];
}

/** Returns the cards that a stored text holds in any form. */
export const cardsIn = (stored: string, cards: readonly string[]): readonly string[] =>
  ownersIn(
    stored,
    cards.flatMap((card) => formsOf(card).map((form) => [form, card] as const)),
  );

/** Returns the texts whose hash is stored, in any usual form: somebody who guesses such a text could confirm the guess. */
export const confirmedIn = (stored: string, guesses: readonly string[]): readonly string[] =>
  ownersIn(
    stored,
    guesses.flatMap((guess) =>
      (['sha256', 'sha1', 'sha512', 'md5'] as const).flatMap((algorithm) => {
        const digest = hash(algorithm, guess, 'buffer');
        return (['hex', 'base64', 'base64url'] as const).map((form) => [digest.toString(form).slice(0, 16), guess] as const);
      }),
    ),
  );

/** Returns each stored text that a key of the key file decrypts, also in pages of the database that are no longer used. */
export function openedWithFile(folder: string, stored: string, desk: Desk): string {
  const keys = JSON.parse(readFileSync(join(folder, 'keys.json'), 'utf8')) as { readonly [day: string]: string };
  const orderIds = [...new Set(stored.match(/ord_[a-z2-7]{52}/g))];
  const letters = (desk.database.prepare("SELECT id FROM documents WHERE collection LIKE 'DEAD-LETTER#%'").all() as { id: string }[]).map(
    ({ id }) => `redress/text/dead-letter/${id}`,
  );
  const envelopes = [...new Set(stored.match(/"messageId":"\d+"/g))].map((each) => `redress/text/envelope/submissions/${/\d+/.exec(each)}`);
  const found: string[] = [];
  const attempt = (key: Uint8Array, content: string, abouts: readonly string[]): { plain: Buffer; about: string } | undefined => {
    for (const about of abouts)
      try {
        const plain = decrypted(key, Buffer.from(content, 'base64url'), about);
        found.push(plain.toString('latin1'), inflated(plain));
        return { plain, about };
      } catch {
        // The text belongs to another key or another record.
      }
    return undefined;
  };
  const matches = (pattern: RegExp): readonly RegExpMatchArray[] => [
    ...new Map([...stored.matchAll(pattern)].map((match) => [match[0], match])).values(),
  ];
  const sealed = matches(/sealed:1:([A-Za-z0-9_-]{38,}):([\w#/-]*)/g);
  const prefix = 'redress/order-key/';
  for (const [day, text] of Object.entries(keys)) {
    const key = Buffer.from(text, 'base64url');
    for (const [, content = ''] of matches(new RegExp(`at-rest:1:${day}:([A-Za-z0-9_-]+)`, 'g')))
      attempt(key, content, ['redress/message']);
    for (const [, content = ''] of matches(new RegExp(`sealed-text:1:${day}:([A-Za-z0-9_-]+)`, 'g')))
      attempt(key, content, [...letters, ...envelopes]);
    for (const [, wrapped = ''] of matches(new RegExp(`${day}\\.([A-Za-z0-9_-]{80})`, 'g'))) {
      const order = attempt(
        key,
        wrapped,
        orderIds.map((id) => `${prefix}${id}`),
      );
      if (order)
        for (const [, content = '', place = ''] of sealed) attempt(order.plain, content, [`${order.about.slice(prefix.length)}#${place}`]);
    }
  }
  return found.join('\n');
}

function inflated(bytes: Buffer): string {
  try {
    return inflateRawSync(bytes).toString('latin1');
  } catch {
    return '';
  }
}

/** Erases the secrets of every order; orders that are not finished are terminated first. Returns how many were erased. */
export async function eraseAll({ desk, orders }: Trouble): Promise<number> {
  let erased = 0;
  for (const { orderId } of orders) {
    if ((await desk.state(orderId)).processState !== 'Processed')
      await desk.system.scheduler.instruct(orderId, { kind: 'terminate', by: 'test', reason: 'end' }, { id: `end-${orderId}` });
    const { outcome } = await eraseSecrets(orderId, () => [], desk.system);
    if (outcome === 'erased') erased += 1;
  }
  return erased;
}

export const openShop = (context: Parameters<typeof openDesk>[0], dataFolder: string): Desk => openDesk(context, shop, { dataFolder });
