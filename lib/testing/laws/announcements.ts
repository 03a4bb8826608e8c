import type { Json } from '#core/data/json';
import { timeText } from '#ports/messages';
import { announcedAs, type OutboxEntry, type ProcessState, type StateRecord } from '#ports/records';
import type { Tracked } from '#testing/world/history';
import { type Law, on, type Setting, writerOf } from './law.ts';

/** Texts of announcements, published or in an outbox, by id. */
type Texts = Map<string, string>;

type StatusEntry = Extract<OutboxEntry, { kind: 'status' }>;

/**
 * Each announcement has the title that belongs to its id, and shows the record as the write of the announcement left it. Each write that
 * needs an announcement has one (S17).
 */
export function announcements({ announcesProcessed }: Setting): Law {
  const texts: Texts = new Map();
  return {
    name: 'announcements',
    after: on(['published', 'written'], (observation, history) => {
      if (observation.type === 'published') {
        const { id, detailType, detail } = observation.announcement;
        const title = titleOf(id);
        if (title === 'Order Processed' && !announcesProcessed)
          return `announcement ${id} was published although ANNOUNCE_PROCESSED is off`;
        if (title !== detailType) return `announcement ${id} has the title "${detailType}", expected "${title}"`;
        const text = JSON.stringify(detail);
        texts.set(id, text);
        const states = ['before', 'after'].flatMap((field) => (field in detail ? [String(detail[field])] : []));
        return detail['id'] === id && states.every((state) => knownStates.has(state))
          ? undefined
          : `announcement ${id} has a wrong id or an unknown state: ${text}`;
      }
      if (observation.type !== 'written') return undefined;
      const order = history.orders.get(observation.after.orderId);
      if (!order || order.damagedAt !== undefined) return undefined;
      for (const entry of observation.after.outbox) if (entry.kind === 'announcement') texts.set(entry.id, JSON.stringify(entry.detail));
      const unannounced = observation.before && unannouncedDrop(order, observation.before, texts);
      if (unannounced) return unannounced;
      const due = [...dueOf(order, observation.before), ...(announcesProcessed ? endOf(order, observation.before) : [])];
      // The supervisor reads its clock before it writes. If the clock is set back in between, the two times differ.
      const isBySupervisor = writerOf(observation.after) === undefined;
      const wrong = due.find((detail) => !isSame(texts.get(detail.id), detail, isBySupervisor));
      return wrong && `announcement ${wrong.id} is ${texts.get(wrong.id)}, expected ${JSON.stringify(wrong)}`;
    }),
  };
}

function isSame(text: string | undefined, detail: Detail, mayDifferInTime: boolean): boolean {
  return text === JSON.stringify(detail) || (mayDifferInTime && isSameExceptTime(text, detail));
}

const isSameExceptTime = (text: string | undefined, detail: Detail): boolean => text === JSON.stringify({ ...detail, at: timeOf(text) });
const timeOf = (text = '{}'): string => String((JSON.parse(text) as { readonly at?: string }).at);

/** States that an announcement may name as `before` or `after`. */
const knownStates: ReadonlySet<string> = new Set<
  ProcessState | 'Compensating' | 'running' | 'unknown' | 'queued' | 'dead-lettered' | 'open' | 'closed' | 'enforce' | 'dry-run'
>([
  'running',
  'Pending',
  'Processing',
  'Processed',
  'Error',
  'Compensating',
  'unknown',
  'queued',
  'dead-lettered',
  'open',
  'closed',
  'enforce',
  'dry-run',
]);

const titles: readonly (readonly [RegExp, string])[] = [
  [/^ord_[a-z0-9]+@\d+\/cause\/\d+\/exception$/, 'Exception Raised'],
  [/^ord_[a-z0-9]+@\d+\/cause\/\d+\/task$/, 'Task Opened'],
  [/^tsk_[a-z0-9]+_\d+\/reminder\/\d+\/[a-z0-9]+$/, 'Task Reminder'],
  [/^ord_[a-z0-9]+@\d+\/cause\/\d+\/closed\/task$/, 'Task Resolved'],
  [/^ord_[a-z0-9]+@\d+\/rule\/.+$/, 'Rule Announced'],
  [/^ord_[a-z0-9]+@\d+\/stuck\/.+$/, 'Compensation Stuck'],
  [/^ord_[a-z0-9]+@\d+#\d+$/, 'Order In Error'],
  [/^ord_[a-z0-9]+@\d+#\d+\/terminated$/, 'Workflow Terminated'],
  [/^ord_[a-z0-9]+(@\d+)?(#\d+\/service|\/unreadable|\/status\/\d+\/undeliverable)$/, 'Service Exception'],
  [/^rule\/[a-z0-9-]+\/\d+\/demoted$/, 'Rule Demoted'],
  [/^backlog\/.+\/\d+$/, 'Service Exception'],
  [/^channel\/.+\/\d+$/, 'Channel Closed'],
  [/^bulk\/blk_[0-9a-f]+\/\d+$/, 'Bulk Run Waiting'],
  [/^ord_[a-z0-9]+@\d+\/processed(\/(compensated|rejected|canceled|terminated))?$/, 'Order Processed'],
];
const titleOf = (id: string): string => titles.find(([pattern]) => pattern.test(id))?.[1] ?? 'Message Dead-Lettered';

interface Detail {
  readonly id: string;
  readonly [field: string]: unknown;
}

function dueOf(order: Tracked, before: StateRecord | undefined): readonly Detail[] {
  const { state, instance, before: previous } = order;
  const { errorGen } = state;
  const { blocked } = instance.state;
  const isNewlyBlocked = blocked !== undefined && JSON.stringify(blocked) !== JSON.stringify(previous?.state.blocked);
  return [
    ...(errorGen > (before?.errorGen ?? 0) ? [faultOf(order, before, `${announcedAs(state)}#${errorGen}`)] : []),
    ...(isNewlyBlocked && blocked.fault.type !== 'OperatorAsked'
      ? [faultOf(order, before, `${announcedAs(state)}#${errorGen}/terminated`)]
      : []),
    ...stuckIn(order),
  ];
}

function faultOf({ orderId, state, before: previous }: Tracked, before: StateRecord | undefined, id: string): Detail {
  const { fault, failureCount, updatedAt } = state;
  return {
    ...{ id, orderId, at: timeText(updatedAt) },
    ...{ class: fault?.class, type: fault?.type },
    ...(fault?.source ? { source: fault.source } : {}),
    before: previous?.state.phase === 'running' ? 'Processing' : (before?.processState ?? 'Pending'),
    ...{ after: 'Error', failureCount, message: fault?.message },
    ...dataOf(fault),
  };
}

/** Returns the data of a fault. Faults in the tested worlds are small enough for an alert, so none is cut off. */
const dataOf = (fault: { readonly data?: Json } | null | undefined): { readonly data?: Json } =>
  fault?.data === undefined ? {} : { data: fault.data };

/** Returns what is wrong if a write drops status messages without an announcement about the first of them. */
function unannouncedDrop({ orderId, state, newFacts }: Tracked, before: StateRecord, texts: Texts): string | undefined {
  const dropped = newFacts.filter(({ type }) => type === 'ResponseUndeliverable').length;
  if (dropped === 0) return undefined;
  const kept = new Set(state.outbox.map(({ id }) => id));
  const removed = before.outbox.filter((entry): entry is StatusEntry => entry.kind === 'status' && !kept.has(entry.id));
  // Entries before the first dropped one were sent. The write does not tell them apart.
  const mayBeFirst = removed.slice(0, Math.max(0, removed.length - dropped + 1));
  // The announcement has a time that was read after the last try to send, so the times are not compared.
  const isAnnounced = mayBeFirst.some((entry) => isSameExceptTime(texts.get(noticeId(entry, before)), noticeOf(entry, before, state)));
  return isAnnounced ? undefined : `order ${orderId} dropped ${dropped} status messages without an announcement`;
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

const stuckIn = ({ orderId, state, newFacts }: Tracked): readonly Detail[] =>
  newFacts.flatMap((fact) => {
    if (fact.type !== 'UndoFailed' || !fact.stuck) return [];
    const { path, attemptId, fault } = fact;
    return {
      ...{ id: `${announcedAs(state)}/stuck/${path}/${attemptId}`, orderId, at: timeText(state.updatedAt) },
      ...{ class: fault?.class ?? 'basic-failure', type: fault?.type.split('/').at(-1) ?? 'DeadlineExceeded', source: path },
      ...{ before: 'Compensating', after: 'Compensating', failureCount: Number(attemptId.split('.').at(-1)) },
      message: fault?.message ?? 'The agent of the undo does not answer.',
      ...dataOf(fault),
    };
  });

function endOf({ orderId, caller, state }: Tracked, before: StateRecord | undefined): readonly Detail[] {
  if (state.processState !== 'Processed' || before?.processState === 'Processed') return [];
  const id = `${announcedAs(state)}/processed${caller !== undefined && state.outcome !== 'completed' ? `/${state.outcome}` : ''}`;
  return [{ id, orderId, at: timeText(state.updatedAt), outcome: state.outcome }];
}
