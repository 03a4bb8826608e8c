import type { UndoPage } from '#core/data/state';
import { parseWorkflowRef, workflowRef } from '#core/definition/workflow-ref';
import type { Breaker } from '#ports/circuit-breaker';
import { type ClientRecord, registrationIn, type StoredClient } from '#ports/clients';
import { UnreadableRecordError, unknownVersion } from '#ports/errors';
import { timeText } from '#ports/messages';
import { type OrderRecord, type StateHead, type StateRecord, shardOf } from '#ports/records';
import type { Page } from '#ports/store';
import { dayOf } from '#ports/util/days';
import { recordIn } from '#ports/util/json';
import { clientDayKey, clientReferenceKey, dayShardKey, keys, listedKey, orderIdIn, worklistIn, worklistKeyOf } from './keys.ts';
import { linkAttributes, linksIn } from './order-links.ts';
import { stateEntry } from './state-entry.ts';

/** An item as the document client returns and accepts it. */
export type Item = { readonly [attribute: string]: unknown };

/**
 * The stored form of an attribute. DynamoDB bills the whole item at every write, so defaults are left out: null, empty lists, `false`,
 * and the `usual` value. Nested values are JSON text, because DynamoDB's maps end at 32 levels and its numbers are not JavaScript's. The
 * kinds `workflow` and `writeIds`, which every state has, use a form that is shorter than JSON.
 */
type Kind = 'plain' | 'optional' | 'optionalList' | 'json' | 'list' | 'flag' | 'workflow' | 'writeIds';

const usual: { readonly [name: string]: unknown } = { failureCount: 0, errorGen: 0, statusSeq: 0, recover: 'step', onExhausted: 'error' };

const headAttributes = {
  submittedAt: 'plain',
  rev: 'plain',
  epoch: 'plain',
  lockedBy: 'plain',
  completeBy: 'plain',
  processState: 'plain',
  outcome: 'plain',
  failureCount: 'plain',
  errorGen: 'plain',
  causes: 'optional',
  open: 'optionalList',
  restartedAs: 'optional',
  ruleTimers: 'optional',
  undoing: 'optional',
  suspended: 'flag',
  remainingMs: 'plain',
  fault: 'json',
  heldBy: 'plain',
  heldUntil: 'plain',
  nextDueAt: 'plain',
  nextDueFor: 'json',
  worklistAt: 'plain',
  recover: 'plain',
  maxFailures: 'plain',
  onExhausted: 'plain',
  longWaitMs: 'optional',
  stepMs: 'plain',
  client: 'plain',
  responseChannel: 'plain',
  statusSeq: 'plain',
  workflow: 'workflow',
  definition: 'plain',
  lastBy: 'list',
  writeIds: 'writeIds',
  outbox: 'list',
  notes: 'list',
  updatedAt: 'plain',
} as const satisfies { readonly [Name in Exclude<keyof StateHead, 'schemaVersion' | 'orderId' | 'worklist'>]-?: Kind };

const names = Object.keys(headAttributes) as (keyof typeof headAttributes)[];

/** Attributes that a write of the head may have to remove. */
const removable: readonly string[] = [...names, 'worklist', 'expiresAt', 'errorShard', 'listedAt'];

/** The attributes of a head: all of a state but its instance, which is in the attribute `blob`. */
export const headProjection: readonly string[] = ['pk', 'schemaVersion', ...removable];

export interface HeadChange {
  readonly set: Item;
  readonly remove: readonly string[];
}

/** Returns the state's attributes without its key and its instance. */
function headItem(head: StateHead, expiresAt: number | undefined): Item {
  const attributes = names.flatMap((name): [string, unknown][] => {
    const value = stored(headAttributes[name], head[name]);
    return value === undefined || value === usual[name] ? [] : [[name, value]];
  });
  return {
    schemaVersion: head.schemaVersion,
    ...Object.fromEntries(attributes),
    ...(head.worklist === null ? {} : { worklist: worklistKeyOf(head.worklist, head.orderId) }),
    ...stateEntry(head),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

const stored = (kind: Kind, value: unknown): unknown => {
  if (value === null || value === false || (Array.isArray(value) && value.length === 0)) return undefined;
  if (kind === 'plain' || kind === 'optional' || kind === 'flag') return value;
  if (kind === 'workflow') return workflowRef(value as StateHead['workflow']);
  return kind === 'writeIds' ? writeIdsText(value as StateHead['writeIds']) : JSON.stringify(value);
};

const writeIdsText = (ids: StateHead['writeIds']): string => ids.map(({ id, rev }) => `${rev} ${id}`).join(',');
const writeIdsIn = (text: string): StateHead['writeIds'] =>
  text.split(',').map((each) => ({ id: each.slice(each.indexOf(' ') + 1), rev: Number.parseInt(each, 10) }));

export const stateItem = (state: StateRecord, expiresAt?: number): Item => ({
  ...keys.state(state.orderId),
  ...headItem(state, expiresAt),
  blob: state.blob,
});

export function headChange(head: StateHead, expiresAt?: number): HeadChange {
  const set = headItem(head, expiresAt);
  return { set, remove: removable.filter((name) => !Object.hasOwn(set, name)) };
}

/** Returns the head of a state; throws UnreadableRecordError, which concerns this order alone. */
export function headOf(item: Item): StateHead {
  const orderId = orderIdIn(String(item['pk']));
  const version = item['schemaVersion'];
  if (version !== 1) throw unknownVersion(orderId, version, item['updatedAt']);
  const attributes = names
    .map((name) => [name, restored(orderId, headAttributes[name], item[name] ?? usual[name])] as const)
    .filter(([, value]) => value !== undefined);
  const worklist = item['worklist'];
  const head = {
    schemaVersion: 1,
    orderId,
    worklist: worklist === undefined ? null : worklistIn(String(worklist)),
    ...Object.fromEntries(attributes),
  } as StateHead;
  if (typeof head.rev !== 'number' || typeof head.epoch !== 'number') throw damaged(orderId);
  return head;
}

export function stateOf(item: Item): StateRecord {
  const head = headOf(item);
  if (typeof item['blob'] !== 'string') throw damaged(head.orderId);
  return { ...head, blob: item['blob'] };
}

function restored(orderId: string, kind: Kind, value: unknown): unknown {
  switch (kind) {
    case 'plain':
      return value ?? null;
    case 'optional':
      return value;
    case 'flag':
      return value === true;
    case 'workflow': {
      const workflow = parseWorkflowRef(String(value));
      if (workflow.name === '' || !Number.isSafeInteger(workflow.version)) throw damaged(orderId);
      return workflow;
    }
    case 'writeIds':
      return value === undefined ? [] : writeIdsIn(String(value));
    case 'json':
      return value === undefined ? null : recordIn(orderId, String(value));
    case 'optionalList':
      return value === undefined ? undefined : restored(orderId, 'list', value);
    case 'list': {
      const list = value === undefined ? [] : recordIn(orderId, String(value));
      if (!Array.isArray(list)) throw damaged(orderId);
      return list;
    }
  }
}

/** Returns the item of an order, with the sort attributes of its indexes. */
export const orderItem = (
  {
    orderId,
    client,
    reference,
    workflow,
    body,
    hash,
    responseChannel,
    submittedAt,
    firstGeneration,
    answer,
    key,
    erasedAt,
    ...links
  }: OrderRecord,
  expiresAt?: number,
): Item => {
  const day = dayOf(submittedAt);
  return {
    ...keys.order(orderId),
    client,
    workflow: JSON.stringify(workflow),
    body: JSON.stringify(body),
    hash,
    submittedAt,
    answer: storedAnswer({ orderId, submittedAt, answer, key }),
    ...(key === undefined ? {} : { key }),
    ...(erasedAt === undefined ? {} : { erasedAt }),
    ...(firstGeneration === undefined ? {} : { firstGeneration }),
    ...linkAttributes(links),
    ...(responseChannel === undefined ? {} : { responseChannel }),
    ...(reference === undefined ? {} : { reference, clientReference: clientReferenceKey(client, reference) }),
    clientDay: clientDayKey(client, day),
    dayShard: dayShardKey(day, shardOf(orderId)),
    listedAt: listedKey(submittedAt, orderId),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
};

interface Answered extends Pick<OrderRecord, 'orderId' | 'submittedAt' | 'answer'> {
  readonly key: string | undefined;
}

const usualAnswer = (processState: string, { orderId, submittedAt }: Pick<Answered, 'orderId' | 'submittedAt'>): string =>
  JSON.stringify({ orderId, processState, submittedAt: timeText(submittedAt) });

/**
 * Shortens the usual answer to its state, so that an order with a key is hardly larger than one without: every kilobyte of an item is
 * billed. Earlier versions of Redress know neither keys nor the short form, so orders without a key keep the whole text.
 */
function storedAnswer({ answer, key, ...order }: Answered): string {
  const state = key === undefined ? undefined : ['Processing', 'Pending'].find((each) => usualAnswer(each, order) === answer);
  return state ?? answer;
}

/** Returns the order of an item; throws UnreadableRecordError. */
export function orderOf(item: Item): OrderRecord {
  const orderId = orderIdIn(String(item['pk']));
  const { client, hash, key, erasedAt, submittedAt, firstGeneration, answer, reference, responseChannel } = item as unknown as OrderRecord;
  const workflow = recordIn<OrderRecord['workflow']>(orderId, String(item['workflow']));
  const body = recordIn<OrderRecord['body']>(orderId, String(item['body']));
  return {
    orderId,
    client,
    ...(reference === undefined ? {} : { reference }),
    workflow,
    body,
    hash,
    ...(key === undefined ? {} : { key }),
    ...(erasedAt === undefined ? {} : { erasedAt }),
    ...(responseChannel === undefined ? {} : { responseChannel }),
    submittedAt,
    ...(firstGeneration === undefined ? {} : { firstGeneration }),
    answer: answer.startsWith('{') ? answer : usualAnswer(answer, { orderId, submittedAt }),
    ...linksIn(orderId, item),
  };
}

export const pageItem = (orderId: string, rev: number, page: Page): Item => ({ ...keys.page(orderId, rev), page: JSON.stringify(page) });
export const overflowItem = (orderId: string, rev: number, part: number, page: Page): Item => ({
  ...keys.overflow(orderId, rev, part),
  page: JSON.stringify(page),
});
export const pageOf = (item: Item): Page => recordIn<Page>(orderIdIn(String(item['pk'])), String(item['page']));

export const undoPageItem = (orderId: string, rev: number, page: UndoPage): Item => ({
  ...keys.undoPage(orderId, rev),
  page: JSON.stringify(page),
});
export const undoPageOf = (item: Item): UndoPage => recordIn<UndoPage>(orderIdIn(String(item['pk'])), String(item['page']));

export const clientItem = (client: ClientRecord): Item => ({
  ...keys.client(client.id),
  rev: client.rev,
  record: JSON.stringify(client),
});
export const clientOf = (item: Item): ClientRecord => registrationIn(JSON.parse(String(item['record'])) as StoredClient);
/** An app client of the token issuer with the client for which it acts; without `client`, it acts for none. */
export const appClientItem = (appClient: string, client?: string): Item => ({
  ...keys.appClient(appClient),
  appClient,
  ...(client === undefined ? {} : { client }),
});

export const breakerItem = (breaker: Breaker): Item => ({
  ...keys.breaker(breaker.agent),
  rev: breaker.rev,
  record: JSON.stringify(breaker),
});
export const breakerOf = (item: Item): Breaker => JSON.parse(String(item['record'])) as Breaker;

const damaged = (orderId: string): UnreadableRecordError => new UnreadableRecordError(orderId, 'it is damaged');
