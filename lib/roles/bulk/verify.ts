import { isJudged, type Verdict as Judged, judge, judgeEnd, watchOf } from '#core/exceptions/verdict';
import type { Definitions } from '#ports/definitions';
import type { StateHead } from '#ports/records';
import type { Store } from '#ports/store';
import { exceptionIdOf } from '#roles/exceptions/ids';
import { exceptionOf } from '#roles/exceptions/read';
import type { JournalEntry } from '#roles/scheduler/instance';
import { readableOrder } from '#roles/scheduler/load';
import { wholeJournal } from '#roles/scheduler/step-report';
import type { Loaded } from '#roles/scheduler/types';
import type { OrderOfSet } from './documents.ts';
import type { Verdict } from './run.ts';

interface Ports {
  readonly store: Pick<Store, 'load' | 'head' | 'document' | 'pages'>;
  readonly definitions: Definitions;
}

/** An order to which a run has applied its instruction. */
export interface AppliedOrder extends OrderOfSet {
  readonly kind: string;
}

/** Finds out whether an applied instruction has helped. */
export type Verify = (order: AppliedOrder) => Promise<Verdict>;

/**
 * Judges an applied instruction by what the journal of the order says after it. An order that is gone counts as passed: only ended orders
 * are removed.
 */
export const verifyBy =
  (ports: Ports): Verify =>
  async (order) => {
    const { loaded, head } = await read(order.orderId, ports);
    if (head === undefined) return 'passed';
    if (head === 'unreadable') return 'running';
    if (order.kind === 'restart' && head.restartedAs !== undefined) return verifyRestart(order, head.restartedAs, ports);
    return orByEnd(loaded ? await judged(loaded, order, await factsSince(loaded, order, ports.store), ports) : 'running', order, head);
  };

/** Judges a restart by the journal of the new order. */
async function verifyRestart(order: AppliedOrder, restartedAs: string, ports: Ports): Promise<Verdict> {
  const { loaded, head } = await read(restartedAs, ports);
  if (head === undefined || head === 'unreadable') return 'running';
  return orByEnd(loaded ? await judged(loaded, order, await journalOf(loaded, ports.store), ports) : 'running', order, head);
}

interface Found {
  /** Undefined if the instance cannot be read. */
  readonly loaded: Loaded | undefined;
  readonly head: StateHead | 'unreadable' | undefined;
}

async function read(orderId: string, ports: Ports): Promise<Found> {
  const loaded = await readableOrder(orderId, ports);
  return { loaded, head: loaded?.record ?? (await ports.store.head(orderId).catch(() => 'unreadable' as const)) };
}

/** Judges a finished order by its outcome, if damage has taken the lines of its journal that would tell more. */
function orByEnd(verdict: Verdict, { kind }: AppliedOrder, { outcome }: Pick<StateHead, 'outcome'>): Verdict {
  const byEnd = verdict === 'running' && outcome !== null ? judgeEnd({ kind }, outcome) : undefined;
  return byEnd ? verdictOfRun(byEnd) : verdict;
}

async function judged(loaded: Loaded, { orderId, seq, kind }: AppliedOrder, journal: readonly JournalEntry[], { store }: Ports) {
  if (!isJudged(kind)) return 'running';
  const exception = seq === 0 ? undefined : await exceptionOf(exceptionIdOf(orderId, seq), store);
  const [first, ...others] = journal;
  const isGiven = first?.type === 'InstructionGiven' && first.kind === kind;
  const chosen = isGiven ? first.after?.['path'] : undefined;
  const watch = watchOf(
    { kind, path: chosen },
    { path: exception?.path || undefined, fingerprint: exception?.fingerprint, exceptionId: exceptionIdOf(orderId, seq) },
  );
  const verdict = judge(loaded.program, watch, isGiven ? others : journal);
  return typeof verdict === 'string' ? verdictOfRun(verdict) : 'running';
}

/** A run has no figure for the verdict `void`: the order was ended in another way. It counts as failed otherwise. */
const verdictOfRun = (verdict: Judged): Verdict => (verdict === 'void' ? 'failed-otherwise' : verdict);

/** Returns the journal from the run's instruction on: the first one of its kind after the exception; without an exception, the last one. */
async function factsSince(loaded: Loaded, { orderId, seq, kind }: AppliedOrder, store: Ports['store']): Promise<readonly JournalEntry[]> {
  const { tail } = loaded.instance;
  const after = sinceInstruction(tail, { kind, exceptionId: exceptionIdOf(orderId, seq), seq });
  return after ?? sinceInstruction(await journalOf(loaded, store), { kind, exceptionId: exceptionIdOf(orderId, seq), seq }) ?? [];
}

function sinceInstruction(
  entries: readonly JournalEntry[],
  { kind, exceptionId, seq }: { readonly kind: string; readonly exceptionId: string; readonly seq: number },
): readonly JournalEntry[] | undefined {
  const isGiven = (entry: JournalEntry): boolean => entry.type === 'InstructionGiven' && entry.kind === kind;
  const detected = entries.findIndex((entry) => entry.type === 'ExceptionDetected' && entry.exceptionId === exceptionId);
  const given =
    seq === 0 || detected < 0 ? entries.findLastIndex(isGiven) : entries.findIndex((entry, at) => at > detected && isGiven(entry));
  return given < 0 ? undefined : entries.slice(given);
}

const journalOf = async ({ record, instance }: Loaded, store: Pick<Store, 'pages'>): Promise<readonly JournalEntry[]> =>
  wholeJournal(await store.pages(record.orderId), instance.tail);
