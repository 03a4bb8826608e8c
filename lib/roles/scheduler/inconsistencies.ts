import { definitionPath } from '#core/data/ids';
import { isRemote } from '#core/definition/definition';
import { isAt } from '#core/engine/undo-pages';
import { queueNames } from '#ports/messages';
import { announcedAs, type OutboxEntry } from '#ports/records';
import { isUndoneAfter, undoneIn } from '#roles/recovery/writes-of';
import { addFacts, addToOutbox, type Draft } from './draft.ts';
import { inconsistencyReport, keptOf, unnotedUses } from './inconsistency-report.ts';
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
    if (!declaresWrites(draft, path)) return [];
    const message = { v: 1, type: 'undone', orderId: record.orderId, path, undoneAt: fact.at };
    return [{ id: `${announcedAs(record)}/undone/${fact.seq}`, kind: 'status', channel: queueNames.submissions, message }];
  });
  return entries.length === 0 ? draft : addToOutbox(draft, entries);
}

const declaresWrites = ({ loaded }: Draft, path: string): boolean =>
  [...loaded.program.nodes].some(([at, node]) => isAt(at, definitionPath(path)) && isRemote(node) && node.writes !== undefined);

/**
 * Raises one exception for an undone write that this order has read, unless the order has undone each step that read it, or a recovery
 * masks these steps. A message that comes twice changes nothing (F-152).
 */
export function inconsistent(draft: Draft, { id, inconsistency }: Extract<Incoming, { type: 'inconsistent' }>): Draft {
  const { pages } = draft.loaded;
  if (!pages) return { ...draft, needs: 'journal' };
  const journal = wholeJournal(pages, draft.instance.tail);
  const news = unnotedUses({ id, uses: inconsistency.uses }, journal);
  if (news === 'all are noted') return draft;
  const { cause, isTooMany } = inconsistency;
  const uses = news.filter(({ path, at }) => {
    const read = journal.find((line) => line.type === 'ObjectsUsed' && line.path === path && line.at === at);
    return !read || !isUndoneAfter(draft.loaded.program, journal, read, path);
  });
  // A step that a recovery undoes or runs again has nothing to do with the undone write any more (F-149).
  const mask = maskIn(draft);
  const standing = mask ? uses.filter(({ path }) => !mask.covers(path)) : uses;
  if (standing.length > 0 || isTooMany) {
    const noted = addFacts(draft, [{ type: 'InconsistencyFound', id, cause }]);
    return report(noted, { type: 'report', id, report: inconsistencyReport({ ...inconsistency, uses: standing }) });
  }
  const kept = keptOf({ ...inconsistency, uses: news });
  if (!mask || uses.length === 0) return addFacts(draft, [{ type: 'InconsistencyFound', id, cause, undone: kept.uses }]);
  const masked = addFacts(draft, [{ type: 'InconsistencyFound', id, cause, maskedBy: mask.by, masked: kept }]);
  return { ...masked, instance: { ...masked.instance, hasMasked: true } };
}
