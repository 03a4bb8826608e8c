import { announcedAs, type StateRecord } from '#ports/records';
import type { JournalEntry } from '#roles/scheduler/instance';
import { type Law, on } from './law.ts';

/**
 * An order has one open cause for each time that it is in Error, from the write that puts it there to the write that takes it out. Each
 * cause opens a task once, and closes it once, for good (S28).
 */
export const causes = (withoutTask = new Set<string>()): Law => ({
  name: 'causes',
  after: on(['written'], ({ before, after }) => {
    const { orderId, processState, errorGen, open = [] } = after;
    for (const { seq, hasNoTask } of open) if (hasNoTask) withoutTask.add(`${announcedAs(after)}/cause/${seq}`);
    const errors = open.filter(({ cause }) => cause.startsWith('error/')).map(({ cause }) => cause);
    const wanted = processState === 'Error' ? [`error/${errorGen}`] : [];
    // Quarantine adds its cause to an order in Error; the next write of the scheduler closes the older one.
    if (!wanted.every((cause) => errors.includes(cause)) || (processState !== 'Error' && errors.length > 0))
      return `order ${orderId} is ${processState} and has the open causes ${errors.join(', ') || 'none'}, expected ${wanted.join(', ') || 'none'}`;
    const reopened = before && open.find(({ seq }) => seq <= causesOf(before) && !(before.open ?? []).some((each) => each.seq === seq));
    if (reopened) return `order ${orderId} reopened its cause ${reopened.seq}`;
    return causesOf(after) >= (before ? causesOf(before) : 0) ? undefined : `order ${orderId} forgot a cause`;
  }),
  atEnd: ({ orders, announced }) =>
    [...orders.values()].flatMap(({ state, journal, damagedAt }) => {
      const endedByRule = handledWhenRuleActed(journal);
      const openNow = new Set((state.open ?? []).map(({ seq }) => seq));
      return Array.from({ length: causesOf(state) }, (_, index) => index + 1).flatMap((seq) => {
        const id = `${announcedAs(state)}/cause/${seq}`;
        const isClosed = announced.has(`${id}/closed/task`);
        const texts = [...(announced.get(`${id}/exception`) ?? [])];
        // A rule has handled the exception in the write that detected it.
        const isHandledAtOnce = texts.some((text) => text.includes('"handling":'));
        // The exception came from outside while the order was in Error, and the rule about it ended that Error in the same write.
        if (texts.some(isReportInError) && endedByRule.has(seq) && !announced.has(`${id}/task`)) return [];
        if (isHandledAtOnce && !openNow.has(seq) && !isClosed)
          return announced.has(`${id}/task`) ? [`task ${id} was opened for nobody`] : [];
        // An exception from outside is part of the task that was open already. The writes of a damaged order are not judged.
        if (withoutTask.has(id) || (damagedAt !== undefined && !announced.has(`${id}/task`)))
          return announced.has(`${id}/exception`) ? [] : [`exception ${id} was never announced`];
        return [
          ...(announced.has(`${id}/task`) ? [] : [`task ${id} was never announced`]),
          ...(isClosed === openNow.has(seq)
            ? [`task ${id} is ${openNow.has(seq) ? 'open, but was announced as closed' : 'closed, but was not announced as closed'}`]
            : []),
        ];
      });
    }),
});

/** Returns the numbers of all exceptions that were handled in a write in which a rule handled one: it may have ended several at once. */
function handledWhenRuleActed(journal: readonly JournalEntry[]): ReadonlySet<number> {
  const handled = journal.filter((fact) => fact.type === 'ExceptionHandled');
  const ruledAt = new Set(handled.flatMap(({ handling: { by, at } }) => (by === 'rule' ? [at] : [])));
  return new Set(handled.flatMap(({ exceptionId, handling: { at } }) => (ruledAt.has(at) ? [Number(exceptionId.split('_').at(-1))] : [])));
}

const isReportInError = (text: string): boolean =>
  text.includes('"before":"Error","after":"Error","statuses":{"before":null,"after":null}');

const causesOf = ({ causes: count = 0 }: Pick<StateRecord, 'causes'>): number => count;
