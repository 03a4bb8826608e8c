import { attemptOf, generationOf, isUndoPath } from '#core/data/ids';
import { isRemote } from '#core/definition/definition';
import { inputOf, nodeAt } from '#core/definition/program';
import { withoutSealed } from '#core/definition/sealed';
import { mask } from '#core/definition/secrets';
import { declaresObjects, usedObjects } from '#core/recovery/object-names';
import { announcedAs, subjectOf } from '#ports/records';
import { addFacts, addToOutbox, type Draft } from './draft.ts';
import type { StoredEntry } from './instance.ts';
import { wholeJournal } from './step-report.ts';

type Done = Extract<StoredEntry, { type: 'ActivityClosed' | 'LateResult' }>;

/**
 * Notes which objects each step has read and written, in the write that records that the step is done: in the journal, and in the outbox
 * for the records of each object. A canceled step that was done after all counts too. Steps of operations that declare no objects cost
 * nothing (F-151).
 */
export function noteObjects(draft: Draft): Draft {
  const { loaded, instance } = draft;
  const added = instance.tail.filter(({ seq }) => seq > loaded.instance.seq);
  const skipped = (path: string) => added.some((fact) => fact.type === 'ActivitySkipped' && fact.path === path && fact.effect === 'none');
  return added.reduce((each, fact) => (isDone(fact) && !skipped(fact.path) ? noted(each, fact) : each), draft);
}

const isDone = (fact: StoredEntry): fact is Done =>
  fact.type === 'LateResult' || (fact.type === 'ActivityClosed' && fact.result === 'Succeeded');

function noted(draft: Draft, { path, output, attemptId }: Done): Draft {
  const { loaded, now } = draft;
  // In a retry, a step that was done before closes without an attempt. Its objects were noted when it was done.
  if (draft.needs !== undefined || attemptId === undefined || isUndoPath(path)) return draft;
  const node = nodeAt(loaded.program, path);
  if (!isRemote(node) || !declaresObjects(node)) return draft;
  const input = inputOf(loaded.program, subjectOf(loaded.order), loaded.instance.state, path);
  const used = usedObjects(node, [input.ok ? withoutSealed(input.value) : undefined, output]);
  const [reads, writes] = [used.reads.filter(holdsNoSecret), used.writes.filter(holdsNoSecret)];
  if (reads.length + writes.length === 0) return draft;
  const requestedAt = firstRequestAt(draft, path, generationOf(attemptId));
  if (requestedAt === 'needs journal') return { ...draft, needs: 'journal' };
  const names = { ...(reads.length > 0 ? { reads } : {}), ...(writes.length > 0 ? { writes } : {}) };
  const next = addFacts(draft, [{ type: 'ObjectsUsed', path, requestedAt, ...names }]);
  const { orderId } = draft.record;
  const { seq } = next.instance;
  const id = `${announcedAs(draft.record)}/objects/${seq}`;
  return addToOutbox(next, [{ id, kind: 'objects', orderId, path, requestedAt, closedAt: now, seq, reads, writes }]);
}

/**
 * Returns when an effect of a step was first requested. Its later attempts, and a confirmation, have the same generation. If the clock of
 * the host that requested it is ahead, the step seems to close before its request: then the time of the close counts as the request's.
 */
function firstRequestAt({ loaded: { pages }, instance: { tail }, now }: Draft, path: string, generation: number): number | 'needs journal' {
  const lines = pages ? wholeJournal(pages, tail) : tail;
  const requests = lines.filter((line) => line.type === 'StepRequested' && line.path === path);
  const first = requests.findIndex((line) => line.type === 'StepRequested' && generationOf(line.attemptId) === generation);
  const found = requests[first];
  const isWhole = pages !== undefined || tail[0]?.seq === 1;
  // If an earlier line of the path, about another effect, is here, all lines about this effect are here, too.
  if (isWhole || first > 0 || (found?.type === 'StepRequested' && attemptOf(found.attemptId) === 1)) return Math.min(found?.at ?? now, now);
  return 'needs journal';
}

/** Whether a name holds no secret: a workflow may pass a secret to a field that the operation does not mark. */
const holdsNoSecret = (name: string): boolean => !name.includes(mask);
