import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { InstanceLockedError, isFatal, UnreadableRecordError } from '#ports/errors';
import { timeText } from '#ports/messages';
import type { StateHead } from '#ports/records';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { taskIdOf } from '#roles/exceptions/ids';
import { taskOf } from '#roles/exceptions/read';
import type { Instruct, Instructed } from '#roles/operator/instruct';
import { type BulkDocuments, type OrderOfSet, outcomeDocument, type StoredOutcome } from './documents.ts';
import { filledInstruction } from './fill.ts';
import { openCauseOf } from './freeze.ts';
import { type BulkAsked, type BulkRun, type ItemRefusal, keptRefusals } from './run.ts';

export interface TreatingPorts {
  readonly store: Store;
  readonly documents: BulkDocuments;
  readonly definitions: Definitions;
  readonly instruct: Instruct;
  readonly clock: Clock;
}

/** Thrown before a write if the process has stood still, so that the run may have been stopped since it was read. */
class RunReadTooLongAgoError extends Error {
  override readonly name = 'RunReadTooLongAgoError';
  constructor(id: string) {
    super(`The bulk run ${id} was read too long ago, and may have been stopped since.`);
  }
}

/** The answer of a check: the agents to which the write would send requests, or why the instruction is refused. */
export type Checked =
  | { readonly ok: true; readonly agents: readonly string[] }
  | { readonly ok: false; readonly refusals: readonly ItemRefusal[] };

/** Reads the run before the instruction is applied to an order. Resolves to false if the run does not go on in this process. */
export type MayGoOn = () => Promise<boolean>;

/** Tries of one order before it counts as failed. */
const triesMax = 5;
const pauseMs = 200;
/** The time for which a read of the run counts. An instruction that would be written later is tried again, after another read. */
const lookCountsMs = 2_000;

/** Checks the instruction on one order by a dry run. It changes nothing. */
export async function checkOrder(run: BulkRun, asked: BulkAsked, order: OrderOfSet, ports: TreatingPorts): Promise<Checked> {
  const now = await presentHead(order, run, ports);
  if ('refusals' in now) return { ok: false, refusals: now.refusals };
  if (now.head === undefined) return refused('no-such-order', 'There is no such order.');
  if (hasMovedOn(now.head, order)) return refused('moved-on', 'The order has gone on since the set was frozen.');
  const filled = await filledInstruction(run, asked, order, ports);
  if ('refusals' in filled) return { ok: false, refusals: filled.refusals };
  try {
    const instructed = await ports.instruct(order.orderId, filled, { id: `bulk/${run.id}`, caller: run.by, dryRun: true });
    if (instructed.outcome === 'planned') return plannedCheck(instructed);
    return { ok: false, refusals: refusalsIn(instructed) };
  } catch (error) {
    return { ok: false, refusals: [refusalOfError(error)] };
  }
}

const plannedCheck = ({ check, plan }: Extract<Instructed, { outcome: 'planned' }>): Checked =>
  check.feasible
    ? { ok: true, agents: [...new Set(plan?.requests.map(({ agent }) => agent) ?? [])] }
    : { ok: false, refusals: keptRefusals(check.refusals) };

const refused = (code: string, detail: string): Checked => ({ ok: false, refusals: [{ code, detail }] });

/**
 * Applies the instruction to one order, unless the order has an outcome already. Resolves to undefined if the run does not go on. The
 * outcome `applied` is part of the transaction of the order's write, so neither exists without the other. So a process that repeats the
 * work of another process applies nothing twice.
 */
export async function treatOrder(order: OrderOfSet, treating: Treating): Promise<StoredOutcome | undefined> {
  const { run, documents, clock, mayGoOn, telemetry } = treating;
  // The outcome `failed` names no reason, so the log has it.
  const failed = (error: unknown): void =>
    telemetry.log('warn', 'cannot treat an order of a bulk run', { bulkId: run.id, orderId: order.orderId, error });
  for (let attempt = 1; attempt <= triesMax; attempt++) {
    if (attempt > 1) await clock.sleep(pauseMs * attempt);
    const before = attempt > 1 ? await quietly(() => documents.outcome(run.id, order.orderId), failed) : undefined;
    if (before) return before;
    const treated = await quietly(() => tryOnce(order, treating), failed);
    if (treated === 'over') return undefined;
    if (treated) return treated;
  }
  if (!(await mayGoOn())) return undefined;
  return documents.putOutcome(run, { orderId: order.orderId, outcome: 'failed', at: clock.now() });
}

/** The parts of a run that `treatOrder` needs beside the order. */
export interface Treating extends TreatingPorts {
  readonly run: BulkRun;
  readonly asked: BulkAsked;
  readonly mayGoOn: MayGoOn;
  readonly telemetry: Pick<Telemetry, 'log'>;
}

/** Resolves to undefined if the order must be tried again, and to `over` if the run does not go on. */
async function tryOnce(order: OrderOfSet, treating: Treating): Promise<StoredOutcome | 'over' | undefined> {
  const { run, asked, documents, instruct, clock, mayGoOn } = treating;
  const { orderId } = order;
  const lookedAt = clock.now();
  if (!(await mayGoOn())) return 'over';
  /**
   * Returns the value unless the run was read too long ago: the process may have stood still, or waited for a lease, while the run was
   * stopped.
   */
  const stillKnown = <T>(value: T): T => {
    if (clock.now() - lookedAt > lookCountsMs) throw new RunReadTooLongAgoError(run.id);
    return value;
  };
  const recorded = (outcome: StoredOutcome['outcome'], refusals: readonly ItemRefusal[] = []): Promise<StoredOutcome> =>
    documents.putOutcome(run, stillKnown(outcomeOf(outcome, refusals)));
  const outcomeOf = (outcome: StoredOutcome['outcome'], refusals: readonly ItemRefusal[] = []): StoredOutcome => ({
    orderId,
    outcome,
    at: clock.now(),
    ...(refusals.length > 0 ? { refusals: keptRefusals(refusals) } : {}),
  });
  const now = await presentHead(order, run, treating);
  if ('refusals' in now) return recorded('refused', now.refusals);
  if (now.head === undefined || hasMovedOn(now.head, order)) return recorded('moved-on');
  const filled = await filledInstruction(run, asked, order, treating);
  if ('refusals' in filled) return recorded('refused', filled.refusals);
  const applied = outcomeOf('applied');
  try {
    // The condition on the rev makes the write depend on the exception that was compared.
    const instructed = await instruct(orderId, filled, {
      id: `bulk/${run.id}`,
      caller: run.by,
      ifMatch: now.head.rev,
      ...(asked.solution ? { solution: asked.solution } : {}),
      beside: () => stillKnown([outcomeDocument(run, applied)]),
    });
    if (instructed.outcome === 'done') return applied;
    if (instructed.outcome === 'stale') return undefined;
    return recorded('refused', refusalsIn(instructed));
  } catch (error) {
    if (!(error instanceof InstanceLockedError) && !(error instanceof UnreadableRecordError)) throw error;
    return recorded('refused', [refusalOfError(error)]);
  }
}

/** Returns the head of the order, or why the run may not act on it: it cannot be read, or another person has claimed its task. */
async function presentHead(
  { orderId, seq }: OrderOfSet,
  { by }: BulkRun,
  { store }: TreatingPorts,
): Promise<{ readonly head: StateHead | undefined } | { readonly refusals: readonly ItemRefusal[] }> {
  let head: StateHead | undefined;
  try {
    head = await store.head(orderId);
  } catch (error) {
    return { refusals: [refusalOfError(error)] };
  }
  const task = head && seq > 0 ? await taskOf(taskIdOf(orderId, seq), store) : undefined;
  const assignee = (task as { readonly assignee?: string } | undefined)?.assignee;
  if (task?.state !== 'claimed' || assignee === by) return { head };
  return { refusals: [{ code: 'claimed', detail: `${assignee ?? 'A person'} has claimed the task of this order.` }] };
}

const hasMovedOn = (head: StateHead, { seq }: OrderOfSet): boolean =>
  seq === 0 ? openCauseOf(head) !== 0 : !head.open?.some((cause) => cause.seq === seq);

function refusalsIn(instructed: Instructed): readonly ItemRefusal[] {
  switch (instructed.outcome) {
    case 'infeasible':
      return instructed.refusals;
    case 'invalid':
      return instructed.problems.map(({ pointer, code, detail }) => ({ code, detail: `${pointer}: ${detail}` }));
    default:
      return [{ code: instructed.outcome, detail: `The answer to the instruction was ${instructed.outcome}.` }];
  }
}

/** @throws the error if it says nothing about the order. */
function refusalOfError(error: unknown): ItemRefusal {
  if (error instanceof InstanceLockedError)
    return { code: 'locked', detail: `Another process or person holds this order until ${timeText(error.heldUntil)}.` };
  if (error instanceof UnreadableRecordError) return { code: 'unreadable', detail: error.message };
  throw error;
}

/** Resolves to undefined if the work fails, so that it is tried again. */
async function quietly<T>(work: () => Promise<T>, failed: (error: unknown) => void): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isFatal(error)) throw error;
    failed(error);
    return undefined;
  }
}
