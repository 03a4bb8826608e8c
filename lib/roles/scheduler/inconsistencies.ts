import { definitionPath } from '#core/data/ids';
import { isRemote } from '#core/definition/definition';
import { isAt } from '#core/engine/undo-pages';
import { queueNames } from '#ports/messages';
import { announcedAs, type OutboxEntry } from '#ports/records';
import { undoneIn } from '#roles/recovery/writes-of';
import { addFacts, addToOutbox, type Draft } from './draft.ts';
import { inconsistencyReport, isNoted, keptOf } from './inconsistency-report.ts';
import { maskIn } from './masking.ts';
import { report } from './reports.ts';
import { wholeJournal } from './step-report.ts';
import type { Incoming } from './types.ts';

/** Has the recovery manager look for the consumers of each write that is undone while an order recovers (F-151, F-152). */
export function noteUndone(draft: Draft): Draft {
  const { loaded, instance, record } = draft;
  const recovering = loaded.instance.state.recovering ?? instance.state.recovering;
  if (draft.needs !== undefined || recovering === undefined) return draft;
  const added = instance.tail.filter(({ seq }) => seq > loaded.instance.seq);
  // An undo that a person has marked as done leaves two lines.
  const undone = new Map(
    added.flatMap((fact) => {
      const path = undoneIn(loaded.program, fact);
      return path === undefined ? [] : [[path, fact]];
    }),
  );
  const entries = [...undone].flatMap(([path, fact]): readonly OutboxEntry[] => {
    if (!writes(draft, path)) return [];
    const message = { v: 1, type: 'undone', orderId: record.orderId, path, undoneAt: fact.at };
    return [{ id: `${announcedAs(record)}/undone/${fact.seq}`, kind: 'status', channel: queueNames.submissions, message }];
  });
  return entries.length === 0 ? draft : addToOutbox(draft, entries);
}

const writes = ({ loaded }: Draft, path: string): boolean =>
  [...loaded.program.nodes].some(([at, node]) => isAt(at, definitionPath(path)) && isRemote(node) && node.writes !== undefined);

/** Raises one exception for an undone write that this order has read. A message that comes twice changes nothing (F-152). */
export function inconsistent(draft: Draft, { id, inconsistency }: Extract<Incoming, { type: 'inconsistent' }>): Draft {
  const { pages } = draft.loaded;
  if (!pages) return { ...draft, needs: 'journal' };
  const isKnown = isNoted(id, wholeJournal(pages, draft.instance.tail));
  if (isKnown) return draft;
  const { cause, uses, isTooMany } = inconsistency;
  // A step that is undone, or runs again after the recovery, has nothing to do with the undone write any more (F-149).
  const mask = maskIn(draft);
  const standing = mask ? uses.filter(({ path }) => !mask.covers(path)) : uses;
  if (mask && uses.length > 0 && standing.length === 0 && !isTooMany) {
    const masked = addFacts(draft, [{ type: 'InconsistencyFound', id, cause, maskedBy: mask.by, masked: keptOf(inconsistency) }]);
    return { ...masked, instance: { ...masked.instance, hasMasked: true } };
  }
  const noted = addFacts(draft, [{ type: 'InconsistencyFound', id, cause }]);
  return report(noted, { type: 'report', id, report: inconsistencyReport({ ...inconsistency, uses: standing }) });
}
