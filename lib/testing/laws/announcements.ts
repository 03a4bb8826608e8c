import type { Json } from '#core/data/json';
import { timeText } from '#ports/messages';
import { announcedAs, type OutboxEntry, type ProcessState, type StateRecord } from '#ports/records';
import type { Tracked } from '#testing/world/history';
import { type Law, on, type Setting, writerOf } from './law.ts';

/** What was announced, or lies in an outbox to be: its text by its id. */
type Said = Map<string, string>;

type StatusEntry = Extract<OutboxEntry, { kind: 'status' }>;

/** S17: what people are told says what the record says at that moment, under the right title, and nothing is left out. */
export function announcements({ announcesProcessed }: Setting): Law {
  const said: Said = new Map();
  return {
    name: 'announcements',
    after: on(['published', 'written'], (observation, history) => {
      if (observation.type === 'published') {
        const { id, detailType, detail } = observation.announcement;
        const title = titleOf(id);
        if (title === 'Order Processed' && !announcesProcessed) return `${id} is announced, and nobody wants to hear it`;
        if (title !== detailType) return `${id} is announced as ${detailType} instead of ${title}`;
        const text = JSON.stringify(detail);
        said.set(id, text);
        const states = ['before', 'after'].flatMap((field) => (field in detail ? [String(detail[field])] : []));
        return detail['id'] === id && states.every((state) => known.has(state)) ? undefined : `${id} says that it is ${text}`;
      }
      if (observation.type !== 'written') return undefined;
      const order = history.orders.get(observation.after.orderId);
      if (!order || order.damagedAt !== undefined) return undefined;
      for (const entry of observation.after.outbox) if (entry.kind === 'announcement') said.set(entry.id, JSON.stringify(entry.detail));
      const unheard = observation.before && unheardOf(order, observation.before, said);
      if (unheard) return unheard;
      const due = [...dueOf(order, observation.before), ...(announcesProcessed ? endOf(order, observation.before) : [])];
      // Who looks at an order begins before he writes; his clock may be set back meanwhile.
      const isByOther = writerOf(observation.after) === undefined;
      const wrong = due.find((detail) => !isSame(said.get(detail.id), detail, isByOther));
      return wrong && `${wrong.id} says ${said.get(wrong.id)} instead of ${JSON.stringify(wrong)}`;
    }),
  };
}

function isSame(text: string | undefined, detail: Detail, mayBeOther: boolean): boolean {
  return text === JSON.stringify(detail) || (mayBeOther && isSameThen(text, detail));
}

const isSameThen = (text: string | undefined, detail: Detail): boolean => text === JSON.stringify({ ...detail, at: timeOf(text) });
const timeOf = (text = '{}'): string => String((JSON.parse(text) as { readonly at?: string }).at);

/** Between which states people are told that something went. */
const known: ReadonlySet<string> = new Set<ProcessState | 'Compensating' | 'unknown' | 'queued' | 'dead-lettered'>([
  'Pending',
  'Processing',
  'Processed',
  'Error',
  'Compensating',
  'unknown',
  'queued',
  'dead-lettered',
]);

const titles: readonly (readonly [RegExp, string])[] = [
  [/^ord_[a-z0-9]+@\d+\/stuck\/.+$/, 'Compensation Stuck'],
  [/^ord_[a-z0-9]+@\d+#\d+$/, 'Order In Error'],
  [/^ord_[a-z0-9]+@\d+#\d+\/terminated$/, 'Workflow Terminated'],
  [/^ord_[a-z0-9]+(@\d+)?(#\d+\/service|\/unreadable|\/status\/\d+\/undeliverable)$/, 'Service Exception'],
  [/^backlog\/.+\/\d+$/, 'Service Exception'],
  [/^channel\/.+\/\d+$/, 'Channel Closed'],
  [/^ord_[a-z0-9]+@\d+\/processed(\/(compensated|rejected|canceled|terminated))?$/, 'Order Processed'],
];
const titleOf = (id: string): string => titles.find(([pattern]) => pattern.test(id))?.[1] ?? 'Poison Message Dead-Lettered';

interface Detail {
  readonly id: string;
  readonly [field: string]: unknown;
}

function dueOf(order: Tracked, before: StateRecord | undefined): readonly Detail[] {
  const { state, instance, before: was } = order;
  const { errorGen } = state;
  const { blocked: held } = instance.state;
  const isHeldAnew = held !== undefined && JSON.stringify(held) !== JSON.stringify(was?.state.blocked);
  return [
    ...(errorGen > (before?.errorGen ?? 0) ? [faultOf(order, before, `${announcedAs(state)}#${errorGen}`)] : []),
    ...(isHeldAnew && held.fault.type !== 'OperatorAsked' ? [faultOf(order, before, `${announcedAs(state)}#${errorGen}/terminated`)] : []),
    ...stuckIn(order),
  ];
}

function faultOf({ orderId, state, before: was }: Tracked, before: StateRecord | undefined, id: string): Detail {
  const { fault, failureCount, updatedAt } = state;
  return {
    ...{ id, orderId, at: timeText(updatedAt) },
    ...{ class: fault?.class, type: fault?.type },
    ...(fault?.source ? { source: fault.source } : {}),
    before: was?.state.phase === 'running' ? 'Processing' : (before?.processState ?? 'Pending'),
    ...{ after: 'Error', failureCount, message: fault?.message },
    ...dataOf(fault),
  };
}

/** No fault of a world has more than an alert takes along. */
const dataOf = (fault: { readonly data?: Json } | null | undefined): { readonly data?: Json } =>
  fault?.data === undefined ? {} : { data: fault.data };

/** Whoever gives a client's messages up says so of the first of them, in the same write. */
function unheardOf({ orderId, state, news }: Tracked, before: StateRecord, said: Said): string | undefined {
  const given = news.filter(({ type }) => type === 'ResponseUndeliverable').length;
  if (given === 0) return undefined;
  const kept = new Set(state.outbox.map(({ id }) => id));
  const gone = before.outbox.filter((entry): entry is StatusEntry => entry.kind === 'status' && !kept.has(entry.id));
  // All the others that are given up come after the first of them.
  const first = gone.slice(0, Math.max(0, gone.length - given + 1));
  // Sending them takes its time: this is said of the moment after that.
  const isTold = first.some((entry) => isSameThen(said.get(noticeId(entry, before)), noticeOf(entry, before, state)));
  return isTold ? undefined : `${orderId} gives up ${given} messages and tells nobody`;
}

const noticeId = ({ id }: StatusEntry, state: StateRecord): string =>
  `${announcedAs(state)}${id.slice(state.orderId.length)}/undeliverable`;

function noticeOf(entry: StatusEntry, before: StateRecord, { updatedAt }: StateRecord): Detail {
  const { channel } = entry;
  const { orderId, processState, failureCount } = before;
  return {
    ...{ id: noticeId(entry, before), orderId, at: timeText(updatedAt) },
    ...{ class: 'basic-failure', type: 'ResponseUndeliverable', source: channel },
    ...{ before: processState, after: processState, failureCount },
    message: `Cannot send to the response queue ${channel}: its client gets no status of this order. Check that the queue exists.`,
  };
}

const stuckIn = ({ orderId, state, news }: Tracked): readonly Detail[] =>
  news.flatMap((fact) => {
    if (fact.type !== 'UndoFailed' || !fact.stuck) return [];
    const { path, attemptId: asking, fault } = fact;
    return {
      ...{ id: `${announcedAs(state)}/stuck/${path}/${asking}`, orderId, at: timeText(state.updatedAt) },
      ...{ class: fault?.class ?? 'basic-failure', type: fault?.type.split('/').at(-1) ?? 'DeadlineExceeded', source: path },
      ...{ before: 'Compensating', after: 'Compensating', failureCount: Number(asking.split('.').at(-1)) },
      message: fault?.message ?? 'Its agent does not answer.',
      ...dataOf(fault),
    };
  });

function endOf({ orderId, caller, state }: Tracked, before: StateRecord | undefined): readonly Detail[] {
  if (state.processState !== 'Processed' || before?.processState === 'Processed') return [];
  const id = `${announcedAs(state)}/processed${caller !== undefined && state.outcome !== 'completed' ? `/${state.outcome}` : ''}`;
  return [{ id, orderId, at: timeText(state.updatedAt), outcome: state.outcome }];
}
