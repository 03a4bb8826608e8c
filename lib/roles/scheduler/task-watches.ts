import { isJudged, judge, type Verdict, type Watch, watchOf } from '#core/exceptions/verdict';
import { announcedAs, type OpenCause, type OutboxEntry } from '#ports/records';
import type { Cause } from '#roles/exceptions/causes';
import { exceptionFingerprintOf } from '#roles/exceptions/causes';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { addToOutbox, type Draft } from './draft.ts';

/** An instruction that has resolved a task, and whose verdict is not known yet. */
export interface TaskWatch extends Watch {
  /** The task: of this order, or of the one that this order replaces. */
  readonly task: { readonly orderId: string; readonly submittedAt: number; readonly seq: number };
  /** The line of the journal that has the instruction. */
  readonly since: number;
}

/** One order has at most this many watches. Above that, the oldest watch is dropped with the verdict `void`. */
const watchesMax = 8;

/** Watches what becomes of the instruction that closes a cause. `before`: the cause before this write. */
export function watchInstruction(draft: Draft, { seq, hasNoTask, ...told }: OpenCause, before: Cause | undefined): Draft {
  const { decidedBy, instance, record, loaded } = draft;
  if (!decidedBy || hasNoTask || !isJudged(decidedBy.instruction.kind)) return draft;
  const given = instance.tail.findLast((entry) => entry.type === 'InstructionGiven' && entry.seq > loaded.instance.seq);
  const path = before?.fault.source ?? told.path;
  const fingerprint = before ? exceptionFingerprintOf(record, before) : told.fingerprint;
  const watch: TaskWatch = {
    ...watchOf(decidedBy.instruction, { path, fingerprint, exceptionId: exceptionIdOf(record.orderId, seq) }),
    task: { orderId: record.orderId, submittedAt: record.submittedAt, seq },
    since: given?.seq ?? instance.seq,
  };
  const watches = [...(instance.watches ?? []), watch];
  const next: Draft = { ...draft, instance: { ...instance, watches: watches.slice(-watchesMax) }, changed: true };
  return watches.slice(0, -watchesMax).reduce<Draft>((each, old) => withVerdict(each, old, 'void'), next);
}

/** Judges the watched instructions by what this write has added to the journal. */
export function judgeInstructions(draft: Draft): Draft {
  const { instance, loaded, record } = draft;
  const { watches, ...others } = instance;
  if (!watches) return draft;
  const judged = watches.map((watch) => {
    const facts = instance.tail.filter(({ seq }) => seq > Math.max(watch.since, loaded.instance.seq));
    const isMovedOn = watch.kind === 'restart' && watch.task.orderId === record.orderId;
    if (!isMovedOn) return { watch, found: judge(loaded.program, watch, facts) };
    // The order that replaces this order takes the watch over, unless somebody ends this order without a successor.
    const isTerminated = facts.some((fact) => fact.type === 'InstructionGiven' && fact.kind === 'terminate');
    return { watch, found: isTerminated ? ('void' as const) : watch };
  });
  const left = judged.flatMap(({ watch, found }) => (typeof found === 'string' ? [] : [{ ...watch, ...found }]));
  const next: Draft = { ...draft, instance: left.length > 0 ? { ...others, watches: left } : others };
  return judged.reduce<Draft>((each, { watch, found }) => (typeof found === 'string' ? withVerdict(each, watch, found) : each), next);
}

/** Reports a verdict to the task. If the exception came again, its new task names the former task. */
function withVerdict(draft: Draft, { task }: TaskWatch, verdict: Verdict): Draft {
  const { outbox, record, now } = draft;
  const opened = verdict === 'failed-again' ? outbox.find(isOpening) : undefined;
  const linked = { previousTaskId: taskIdOf(task.orderId, task.seq) };
  const named: Draft = {
    ...draft,
    outbox: outbox.map((entry) => (entry === opened && isOpening(entry) ? { ...entry, task: { ...entry.task, ...linked } } : entry)),
  };
  const id = `${announcedAs(record)}/cause/${taskIdOf(task.orderId, task.seq)}/verified`;
  return addToOutbox(named, [
    { id, kind: 'verified', ...task, at: now, verdict, ...(opened && isOpening(opened) ? { nextTaskId: opened.task.id } : {}) },
  ]);
}

type Opening = Extract<OutboxEntry, { kind: 'opened' }>;

const isOpening = (entry: OutboxEntry): entry is Opening & Required<Pick<Opening, 'task'>> =>
  entry.kind === 'opened' && entry.task !== undefined;

/** Returns the watches that the order which replaces this one takes over. */
export const inheritedWatches = (watches: readonly TaskWatch[] = []): readonly TaskWatch[] =>
  watches.filter(({ kind }) => kind === 'restart').map((watch) => ({ ...watch, since: 0 }));
