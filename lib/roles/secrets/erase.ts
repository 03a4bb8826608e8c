import { workflowsAgent } from '#core/data/child-order';
import { idempotencyKeyOf } from '#core/data/ids';
import { isObject, type Json } from '#core/data/json';
import { withSealedReplaced } from '#core/definition/sealed';
import { masked, secretTexts, textsWithin, withoutTexts } from '#core/definition/secrets';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { collections, type Document } from '#ports/documents';
import type { Keys } from '#ports/keys';
import { queueNames } from '#ports/messages';
import type { OrderRecord, StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { jsonIn } from '#ports/util/json';
import { type DeadLetter, deadLetterDocument, deadLetterIn } from '#roles/dead-letters/dead-letter';
import { openedLetter } from '#roles/dead-letters/kept-body';
import { decodeInstance } from '#roles/scheduler/instance';
import { childIdOf, orderIdOf } from '#roles/submission/submission';
import { markedIn } from './marked.ts';
import { orderKeyIn } from './order-key.ts';
import { opened } from './sealing.ts';

export interface ErasurePorts {
  readonly store: Store;
  readonly definitions: Definitions;
  readonly clock: Pick<Clock, 'now'>;
  readonly keys?: Keys | undefined;
}

export type Erased =
  /** `orders`: the order and those that it called. `deadLetters`: how many lost their text. */
  | { readonly outcome: 'erased'; readonly at: number; readonly orders: readonly string[]; readonly deadLetters: number }
  /** The order's secrets were erased before. */
  | { readonly outcome: 'erased-before'; readonly at: number }
  | { readonly outcome: 'not-found' }
  | { readonly outcome: 'conflict'; readonly reasons: readonly string[] };

interface Found {
  readonly order: OrderRecord;
  readonly state: StateRecord;
}

/**
 * Makes the secrets of a finished order unreadable for everybody, forever: removes its key from its record and from those of the orders
 * that it called, and the texts of dead letters that hold its secrets. Its history stays. A tombstone lets a restore do the same again. An
 * interrupted erasure can be repeated. `beside`: documents for the transaction that ends the erasure.
 */
export async function eraseSecrets(
  orderId: string,
  beside: (order: OrderRecord) => readonly Document[],
  ports: ErasurePorts,
): Promise<Erased> {
  const { store, clock } = ports;
  const root = await store.load(orderId);
  if (!root) return { outcome: 'not-found' };
  const { caller, erasedAt } = root.order;
  if (erasedAt !== undefined) return { outcome: 'erased-before', at: erasedAt };
  if (caller) return conflict(`The order ${caller.orderId} called this one and shares its secrets. Erase the secrets of that order.`);
  const family = await familyOf(root, store);
  const open = family.filter(({ state }) => state.processState !== 'Processed').map(({ order }) => order.orderId);
  if (open.length > 0) return conflict(`Unfinished orders still need these secrets: ${open.join(', ')}. Cancel or terminate them first.`);

  const secrets = (await allSettledOrThrow(family.map((each) => secretsOf(each, ports)))).flat();
  const at = clock.now();
  const letters = await eraseLetters({ orderIds: family.map(({ order }) => order.orderId), secrets }, ports);
  // The caller comes last: until then, a repetition finds the orders that it called.
  for (const { order } of family.toReversed()) {
    if (order.erasedAt !== undefined) continue;
    const { key: _, ...rest } = order;
    const pointers = pointersOf(order, ports);
    const content = { at, pointers, ...(order === root.order ? { deadLetters: letters } : {}) };
    const tombstone: Document = { collection: collections.erased, id: order.orderId, rev: 1, content };
    const record = { ...rest, body: masked(order.body, pointers), erasedAt: at };
    await store.eraseSecrets(record, [tombstone, ...(order === root.order ? beside(order) : [])]);
  }
  return { outcome: 'erased', at, orders: family.map(({ order }) => order.orderId), deadLetters: letters.length };
}

const conflict = (reason: string): Erased => ({ outcome: 'conflict', reasons: [reason] });

/** Returns the secret fields of an order. If its workflow is not part of the app, the whole body counts as secret. */
function pointersOf({ workflow: { name, version } }: OrderRecord, { definitions }: Pick<ErasurePorts, 'definitions'>): readonly string[] {
  const program = definitions.program(name, version);
  return program ? markedIn(program).ofOrder : [''];
}

/** Returns an order with all orders that it has called, the caller first. */
async function familyOf(root: Found, store: Pick<Store, 'load' | 'pages'>): Promise<readonly Found[]> {
  const family = [root];
  for (const { order, state } of family) {
    const entries = [...(await store.pages(order.orderId)).flat(), ...decodeInstance(state).tail] as readonly {
      readonly [field: string]: Json;
    }[];
    const called = entries.flatMap(({ type, path, attemptId }) =>
      type === 'StepRequested' ? [childIdOf(idempotencyKeyOf(order.orderId, String(path), Number.parseInt(String(attemptId), 10)))] : [],
    );
    for (const id of new Set(called)) {
      const child = await store.load(id);
      if (child) family.push(child);
    }
  }
  return family;
}

/** Returns the texts of an order's secrets: those of its body, decrypted. */
async function secretsOf({ order }: Found, ports: ErasurePorts): Promise<readonly string[]> {
  const texts = secretTexts(order.body, pointersOf(order, ports));
  if (order.key === undefined) return texts;
  const key = await orderKeyIn(order.key, order.orderId, ports.keys);
  const found: string[] = [];
  withSealedReplaced(order.body, (text) => {
    found.push(...textsWithin(opened(text, key)));
    return text;
  });
  return found;
}

interface Sought {
  readonly orderIds: readonly string[];
  readonly secrets: readonly string[];
}

interface ErasedLetter {
  readonly collection: string;
  readonly id: string;
  readonly [field: string]: Json;
}

const readAtOnce = 50;

/** Removes the texts of dead letters that name the orders or hold one of the secrets, also in another form. */
async function eraseLetters(sought: Sought, { store, definitions, keys }: ErasurePorts): Promise<readonly ErasedLetter[]> {
  const ofApp = [...definitions.agents, ...definitions.consumers].map(({ name }) => name);
  const channels = [queueNames.submissions, queueNames.wakeUps, workflowsAgent, ...ofApp];
  const erased: ErasedLetter[] = [];
  for (const collection of channels.map(collections.deadLetters)) {
    for (let after: string | undefined, page = await store.documents(collection, after, readAtOnce); page.length > 0; ) {
      for (const document of page) {
        const message = deadLetterIn(document);
        if (message.erased || !concerns(await openedLetter(message, keys), sought)) continue;
        const content = deadLetterDocument({ ...message, body: '', erased: true }).content;
        await store.putDocument({ ...document, rev: document.rev + 1, content }, document.rev);
        erased.push({ collection, id: document.id });
      }
      after = page.at(-1)?.id;
      page = page.length < readAtOnce ? [] : await store.documents(collection, after, readAtOnce);
    }
  }
  return erased;
}

function concerns({ body }: DeadLetter, { orderIds, secrets }: Sought): boolean {
  if (orderIds.some((id) => body.includes(id)) || withoutTexts(body, secrets) !== body) return true;
  const said = jsonIn(body);
  const { client, idempotencyKey } = isObject(said) ? said : {};
  return typeof client === 'string' && typeof idempotencyKey === 'string' && orderIds.includes(orderIdOf(client, idempotencyKey));
}
