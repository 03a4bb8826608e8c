import { isDeepStrictEqual } from 'node:util';
import { timeText } from '#ports/messages';
import { announcedAs, type StateRecord } from '#ports/records';
import { type Law, on } from './law.ts';

const types: ReadonlySet<string> = new Set(['RecordUnreadable', 'InvariantViolated']);

/** The write that quarantines an order contains the reason, a note and two announcements, and happens once (S17, L7). */
export const quarantine = (): Law => ({
  name: 'quarantine',
  after: on(['published', 'written'], (observation) => {
    if (observation.type === 'published') {
      const { id, detail } = observation.announcement;
      return id.endsWith('/unreadable') ? wrongInNotice(id, detail) : undefined;
    }
    if (observation.type !== 'written' || !observation.before) return undefined;
    const { before, after } = observation;
    if (after.fault === null || !types.has(after.fault.type) || after.errorGen === before.errorGen) return undefined;
    const wrong = wrongIn(before, after);
    return wrong && `order ${after.orderId}, rev ${after.rev}: ${wrong}`;
  }),
});

function wrongIn(
  before: StateRecord,
  { orderId, submittedAt, processState, errorGen, fault, failureCount, outbox, notes, updatedAt, ...due }: StateRecord,
) {
  const announced = announcedAs({ orderId, submittedAt });
  const { type, class: faultClass, message = '', permanent } = fault ?? {};
  if (before.processState === 'Error' && before.fault?.type === type) return `quarantined twice for ${type}`;
  if (processState !== 'Error' || faultClass !== 'basic-failure' || permanent !== true)
    return `quarantined as ${processState} with the fault class ${faultClass}`;
  if (!/^(its|it) .+$/.test(message) && type === 'RecordUnreadable') return `unknown reason "${message}"`;
  const note = notes.at(-1);
  const wasError = before.processState === 'Error' ? { before: 'Error' } : {};
  if (!isDeepStrictEqual(note, { at: updatedAt, type: 'RecordUnreadable', reason: message, ...wasError }))
    return `wrong note ${JSON.stringify(note)}`;
  const about = { class: faultClass, type, before: before.processState, after: 'Error', failureCount, message };
  const expected = [
    ['Service Exception', `${announced}#${errorGen}/service`],
    ['Order In Error', `${announced}#${errorGen}`],
  ].map(([detailType, id]) => ({ id, kind: 'announcement', detailType, detail: { id, orderId, at: timeText(updatedAt), ...about } }));
  // The law `causes` judges the entries of the kind `opened`.
  const added = outbox.slice(before.outbox.length).filter(({ kind }) => kind !== 'opened');
  if (!isDeepStrictEqual(added, expected)) return `the outbox got ${JSON.stringify(added)}, expected ${JSON.stringify(expected)}`;
  return due.nextDueFor?.kind === 'outbox' && due.worklist === 'due'
    ? undefined
    : `due for ${JSON.stringify(due.nextDueFor)} in the worklist ${due.worklist}`;
}

function wrongInNotice(id: string, { id: ownId, orderId, at, ...detail }: { readonly [field: string]: unknown }): string | undefined {
  const { before, after, message } = detail;
  const isWhole =
    ownId === id &&
    id.replace(/@\d+/, '') === `${orderId}/unreadable` &&
    !Number.isNaN(Date.parse(String(at))) &&
    String(message).length > 5;
  const about = { class: 'basic-failure', type: 'RecordUnreadable', before: after, after, failureCount: 0, message };
  const isKnown = before === 'unknown' || before === 'Processed';
  return isWhole && isKnown && isDeepStrictEqual(detail, about)
    ? undefined
    : `announcement ${id} has wrong content: ${JSON.stringify(detail)}`;
}
