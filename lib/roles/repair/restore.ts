import type { Document } from '#ports/documents';
import type { Counters, OpenCause, OutboxEntry, StateHead } from '#ports/records';
import { closed, isReport, reportPrefix } from '#roles/exceptions/causes';
import { exceptionIn, isEarlyClosing, seqIn, taskIn } from '#roles/exceptions/records';
import { isCauseEntry } from '#roles/exceptions/store';
import { countedUntil } from '#roles/scheduler/deadlines';

const counterGap = 1_000_000;

/**
 * Returns the counters of a record that is restored from a backup: higher than any process can have seen. Writes
 * of processes that still have the later record are refused, and no new message has the id of an old one.
 */
export function countersAfterRestore(restored: Partial<Counters>, inUse: Partial<Counters> = {}): Counters {
  const after = (name: keyof Counters): number => Math.max(restored[name] ?? 0, inUse[name] ?? 0) + counterGap;
  return { rev: after('rev'), epoch: after('epoch'), errorGen: after('errorGen'), statusSeq: after('statusSeq') };
}

/** The known causes of an order. */
export type Causes = Pick<StateHead, 'causes' | 'open'> & Partial<Pick<StateHead, 'submittedAt' | 'outbox'>>;

/**
 * Returns a restored head that knows the causes since its backup: their records stay, so their numbers are not given again. The
 * outbox closes those that are open, also for a finished order. Exceptions from outside stay open until the order continues.
 */
export function withCausesSince(restored: StateHead, inUse: Causes, now: number): StateHead {
  const { causes: known = 0, open = [], outbox, orderId, submittedAt, processState, updatedAt } = restored;
  const causes = Math.max(known, inUse.causes ?? 0);
  if (causes === known) return restored;
  const since = (inUse.open ?? []).filter(({ seq }) => seq > known);
  const head = { ...restored, submittedAt: inUse.submittedAt ?? submittedAt };
  const stays = (cause: OpenCause): boolean => isReport(cause) && head.submittedAt === submittedAt;
  const handling = { by: 'supervisor', control: processState === 'Processed' ? 'none' : 'ready', at: now } as const;
  const entries = [
    ...(inUse.outbox ?? []).filter((entry) => numberOf(entry, orderId) > known),
    ...since
      .filter((cause) => !stays(cause))
      .map((cause) => ({ ...closed(head, cause, handling, undefined).entry, reason: restoredSince })),
  ];
  const next = { ...restored, causes, open: [...open, ...since.filter(stays)] };
  if (entries.length === 0) return next;
  const waitsUntil = countedUntil(restored);
  const nextDueFor = { ...restored.nextDueFor, kind: 'outbox', ...(waitsUntil === undefined ? {} : { waitsUntil }) } as const;
  return { ...next, outbox: [...outbox, ...entries], worklist: 'due', worklistAt: updatedAt, nextDueAt: updatedAt, nextDueFor };
}

const restoredSince = 'The order was restored to an earlier moment.';

/** Returns the number of the order's cause about which an outbox entry is; 0 if it is about none. */
function numberOf(entry: OutboxEntry, orderId: string): number {
  if (!isCauseEntry(entry)) return 0;
  if (entry.kind === 'opened') return entry.exception?.seq ?? entry.task?.seq ?? 0;
  return entry.orderId === orderId ? entry.seq : 0;
}

/**
 * Returns the causes of an order whose state is lost, from the documents in its partition. Documents of a forgotten order with the same id
 * do not count.
 */
export function causesIn(
  documents: readonly Document[],
  { submittedAt }: Pick<StateHead, 'submittedAt'>,
): Required<Pick<Causes, 'causes' | 'open'>> {
  const records = new Map<number, Document[]>();
  for (const document of documents) {
    const seq = seqIn(document);
    if (seq === undefined || document.content['submittedAt'] !== submittedAt) continue;
    records.set(seq, [...(records.get(seq) ?? []), document]);
  }
  const open = [...records].flatMap(([seq, found]) =>
    openIn(
      seq,
      found.filter((each) => !isEarlyClosing(each)),
    ),
  );
  return { causes: Math.max(0, ...records.keys()), open: open.toSorted((one, other) => one.seq - other.seq) };
}

/** Returns the open cause of this number, if it is open. Its name is lost, so the next write of its order closes it. */
function openIn(seq: number, found: readonly Document[]): readonly OpenCause[] {
  const exception = found.filter(({ id }) => id.startsWith('EXCEPTION#')).map(exceptionIn)[0];
  const task = found.filter(({ id }) => id.startsWith('TASK#')).map(taskIn)[0];
  if (exception ? exception.handling !== null : !task || task.resolution !== undefined) return [];
  const hasNoTask = exception && !task;
  const at = exception?.at ?? task?.openedAt ?? 0;
  return [
    {
      seq,
      cause: hasNoTask ? `${reportPrefix}${seq}` : `lost/${seq}`,
      at,
      ...(exception ? {} : { isQuestion: true as const }),
      ...(hasNoTask ? { hasNoTask } : {}),
    },
  ];
}
