import { isUndoPath } from '#core/data/ids';
import { isRemote } from '#core/definition/definition';
import { inputOf, nodeAt } from '#core/definition/program';
import { withoutSealed } from '#core/definition/sealed';
import { mask } from '#core/definition/secrets';
import { usedObjects } from '#core/recovery/object-names';
import { announcedAs, subjectOf } from '#ports/records';
import { addFacts, addToOutbox, type Draft } from './draft.ts';
import type { OrderFact, StoredEntry } from './instance.ts';

type Closed = Extract<StoredEntry, { type: 'ActivityClosed' }>;

/**
 * Notes which objects the steps that close in this write have read and written: in the journal, and in the outbox for the records of each
 * object. Steps of operations that declare no objects cost nothing (F-151).
 */
export function noteObjects(draft: Draft): Draft {
  const { loaded, instance } = draft;
  if (draft.needs !== undefined) return draft;
  const added = instance.tail.filter(({ seq }) => seq > loaded.instance.seq);
  const skipped = (path: string) => added.some((fact) => fact.type === 'ActivitySkipped' && fact.path === path && fact.effect === 'none');
  return added.reduce((each, fact) => (fact.type === 'ActivityClosed' && !skipped(fact.path) ? noted(each, fact) : each), draft);
}

function noted(draft: Draft, { path, result, output, attemptId }: Closed): Draft {
  const { loaded, now } = draft;
  // In a retry, a step that was done before closes without an attempt, and was noted then.
  if (result !== 'Succeeded' || attemptId === undefined || isUndoPath(path)) return draft;
  const node = nodeAt(loaded.program, path);
  if (!isRemote(node) || !(node.reads || node.writes)) return draft;
  const input = inputOf(loaded.program, subjectOf(loaded.order), loaded.instance.state, path);
  const used = usedObjects(node, [input.ok ? withoutSealed(input.value) : undefined, output]);
  const [reads, writes] = [used.reads.filter(isOpen), used.writes.filter(isOpen)];
  if (reads.length + writes.length === 0) return draft;
  const fact: OrderFact = { type: 'ObjectsUsed', path, ...(reads.length > 0 ? { reads } : {}), ...(writes.length > 0 ? { writes } : {}) };
  const next = addFacts(draft, [fact]);
  const { orderId } = draft.record;
  const { seq } = next.instance;
  const id = `${announcedAs(draft.record)}/objects/${seq}`;
  return addToOutbox(next, [{ id, kind: 'objects', orderId, path, closedAt: now, seq, reads, writes }]);
}

/** Whether a name holds no secret: a workflow may pass one on to a field that its operation does not mark. */
const isOpen = (name: string): boolean => !name.includes(mask);
