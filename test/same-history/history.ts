import { isObject, type JsonObject } from '#core/data/json';
import { collections } from '#ports/documents';
import type { OrderRecord, StateRecord } from '#ports/records';
import { deadLetterIn } from '#roles/dead-letters/dead-letter';
import { decodeInstance } from '#roles/scheduler/instance';
import { wholeJournal } from '#roles/scheduler/step-report';
import { type Place, responses } from './place.ts';
import type { Services } from './services.ts';

type Found = { readonly order: OrderRecord; readonly state: StateRecord };

/**
 * Everything that a scenario leaves: answers, journals, states, messages, alerts, effects. Without times; orders have
 * names.
 */
export async function history(place: Place, { effects }: Services, happened: readonly string[]): Promise<readonly string[]> {
  const orders = await ordersOf(place);
  // A message that may be delivered twice counts once, as it does for its receivers.
  const statusMessages = once((await place.bodies(responses)).toSorted(bySeq).map((message) => `told ${text(message)}`));
  const deadLetters = (await deadLetter(place)).toSorted();
  const lines = [
    ...happened,
    ...(await Promise.all(orders.map((found) => linesOf(place, found)))).flat(),
    ...statusMessages,
    ...alertsOf(place),
    ...deadLetters,
    ...effects.map((effect) => `effect ${effect}`),
  ];
  const names = orders.map(({ order }, index) => [order.orderId, index === 0 ? 'the-order' : `child-${index}`] as const);
  return lines.map((line) => names.reduce((named, [id, name]) => named.replaceAll(id, name), line.replaceAll(timeIn, '<time>')));
}

/** Every queue names messages and senders in its own way. */
async function deadLetter({ store, system }: Place): Promise<readonly string[]> {
  const channels = [...system.app.agents.map(({ name }) => name), 'workflows', 'wake-ups', 'submissions'];
  const found = await Promise.all(channels.map((channel) => store.documents(collections.deadLetters(channel), undefined, 100)));
  return found.flat().map((document) => {
    // A place with keys encrypts the body, and keeps its size.
    const { id: _, messageId: __, senderId: ___, deadAt: ____, body: _____, bytes: ______, ...kept } = deadLetterIn(document);
    return `dead-lettered ${text(kept)}`;
  });
}

async function ordersOf({ store }: Place): Promise<readonly Found[]> {
  const { items } = await store.list({}, undefined, 100);
  const found = await Promise.all(items.map(({ order }) => store.load(order.orderId)));
  return found
    .filter((each) => each !== undefined)
    .toSorted(
      (one, other) =>
        one.order.submittedAt - other.order.submittedAt ||
        // A called order may begin in the same millisecond as its caller.
        Number(one.order.caller !== undefined) - Number(other.order.caller !== undefined) ||
        (one.order.orderId < other.order.orderId ? -1 : 1),
    );
}

async function linesOf({ store }: Place, { order, state }: Found): Promise<readonly string[]> {
  const { orderId, workflow } = order;
  const journal = wholeJournal(await store.pages(orderId), decodeInstance(state).tail);
  const { processState, outcome, failureCount, errorGen, epoch, statusSeq, fault } = state;
  return [
    `${orderId} ${workflow.name}@${workflow.version}`,
    ...journal.map(({ seq, type, ...fact }) => `${seq} ${type} ${text(fact)}`),
    `${orderId} ${text({ processState, outcome, failureCount, errorGen, epoch, statusSeq, fault })}`,
  ];
}

const alertsOf = (place: Place): readonly string[] =>
  once(place.announced().map(({ detailType, detail }) => `announced ${detailType} ${text(withoutMessageId(detail))}`)).toSorted();

/** Every queue names messages in its own way; a dead letter is identified by its queue. */
const withoutMessageId = ({ id, ...detail }: JsonObject): JsonObject =>
  detail['type'] === 'PoisonMessage' ? detail : { id: id ?? null, ...detail };

const once = (lines: readonly string[]): readonly string[] => [...new Set(lines)];

const bySeq = (one: JsonObject, other: JsonObject): number => Number(one['seq']) - Number(other['seq']);

const times: ReadonlySet<string> = new Set(['at', 'completeBy', 'submittedAt', 'sentAt']);
/** An id as text, or as the number in the id of an announcement. */
const timeIn = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|(?<=@)\d{13}\b/g;

/** Prints a value on one line, without times; a long text becomes its length. */
function text(value: object): string {
  const { path, ...rest } = value as { readonly path?: string };
  const shown = JSON.stringify(rest, (key, part: unknown) => {
    if (times.has(key)) return undefined;
    if (typeof part === 'string' && part.length > 400) return `${part.slice(0, 40)}… ${part.length} characters`;
    return isObject(part) ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1))) : part;
  });
  return `${path === undefined ? '' : `${path} `}${shown === '{}' ? '' : shown}`.trim();
}
