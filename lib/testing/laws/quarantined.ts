import { isDeepStrictEqual } from 'node:util';
import { timeText } from '#ports/messages';
import { announcedAs, type StateRecord } from '#ports/records';
import { type Law, on } from './law.ts';

const types: ReadonlySet<string> = new Set(['RecordUnreadable', 'InvariantViolated']);

/** S17, L7: whoever puts an order before a person because it cannot be worked on says so, and why, in the same write, under two titles. */
export const quarantined = (): Law => ({
  name: 'quarantined',
  after: on(['published', 'written'], (observation) => {
    if (observation.type === 'published') {
      const { id, detail } = observation.announcement;
      return id.endsWith('/unreadable') ? wrongInNotice(id, detail) : undefined;
    }
    if (observation.type !== 'written' || !observation.before) return undefined;
    const { before, after } = observation;
    if (after.fault === null || !types.has(after.fault.type) || after.errorGen === before.errorGen) return undefined;
    const wrong = wrongIn(before, after);
    return wrong && `${after.orderId}, rev ${after.rev}, ${wrong}`;
  }),
});

function wrongIn(
  before: StateRecord,
  { orderId, submittedAt, processState, errorGen, fault, failureCount, outbox, notes, updatedAt, ...due }: StateRecord,
) {
  const announced = announcedAs({ orderId, submittedAt });
  const { type, class: faultClass, message = '', permanent } = fault ?? {};
  if (before.processState === 'Error' && before.fault?.type === type) return `is put before a person for ${type} a second time`;
  if (processState !== 'Error' || faultClass !== 'basic-failure' || permanent !== true) return `is ${processState}, ${faultClass}`;
  if (!/^(its|it) .+$/.test(message) && type === 'RecordUnreadable') return `cannot be read, since: ${message}`;
  const note = notes.at(-1);
  const wasError = before.processState === 'Error' ? { before: 'Error' } : {};
  if (!isDeepStrictEqual(note, { at: updatedAt, type: 'RecordUnreadable', reason: message, ...wasError }))
    return `notes ${JSON.stringify(note)}`;
  const about = { class: faultClass, type, before: before.processState, after: 'Error', failureCount, message };
  const wanted = [
    ['Service Exception', `${announced}#${errorGen}/service`],
    ['Order In Error', `${announced}#${errorGen}`],
  ].map(([detailType, id]) => ({ id, kind: 'announcement', detailType, detail: { id, orderId, at: timeText(updatedAt), ...about } }));
  const told = outbox.slice(before.outbox.length);
  if (!isDeepStrictEqual(told, wanted)) return `tells ${JSON.stringify(told)} instead of ${JSON.stringify(wanted)}`;
  return due.nextDueFor?.kind === 'outbox' && due.worklist === 'due'
    ? undefined
    : `is due for ${JSON.stringify(due.nextDueFor)} in ${due.worklist}`;
}

function wrongInNotice(id: string, { id: own, orderId, at, ...detail }: { readonly [field: string]: unknown }): string | undefined {
  const { before, after, message } = detail;
  const isWhole =
    own === id && id.replace(/@\d+/, '') === `${orderId}/unreadable` && !Number.isNaN(Date.parse(String(at))) && String(message).length > 5;
  const about = { class: 'basic-failure', type: 'RecordUnreadable', before: after, after, failureCount: 0, message };
  const isKnown = before === 'unknown' || before === 'Processed';
  return isWhole && isKnown && isDeepStrictEqual(detail, about) ? undefined : `${id} says ${JSON.stringify(detail)}`;
}
