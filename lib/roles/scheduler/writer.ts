import { isQuestion } from '#core/data/fault';
import type { ByteBudget } from '#core/engine/transition';
import type { Document } from '#ports/documents';
import { isFatal } from '#ports/errors';
import type { Outgoing } from '#ports/queues';
import type { StateHead, StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { callHook } from './host-hooks.ts';
import { sendKept } from './inbox.ts';
import { logJournal } from './journal-log.ts';
import { endLockByTime, lockHolderOf } from './lease.ts';
import { outboxThenSend } from './outbox-then-send.ts';
import { sendWithWrite } from './send-with-write.ts';
import type { Sending, SendingPorts } from './sending.ts';
import { byteBudgetOf, fitted, refuseImpossible } from './size-limit.ts';
import { withDeadline } from './transition.ts';
import type { Loaded, PlannedWrite, RuledOrder, RuleUse } from './types.ts';
import { markUnsent } from './unsent.ts';

export interface WriterOptions extends SendingPorts {
  readonly telemetry: Telemetry;
  readonly hostId: string;
  readonly onTerminated?: (orderId: string, record: StateRecord) => void;
  /** Called for each order that a write of this host blocks or ends. The scheduler logs the errors of this function. */
  readonly onRest?: (loaded: Loaded) => void;
  readonly rules?: { readonly count: (order: RuledOrder, use: RuleUse) => Promise<void> };
  /** Counts the orders that this host ends. */
  readonly finished?: { readonly ended: () => Promise<void> };
}

/** Plans the same messages within a byte budget. */
export type Replan = (byteBudget: ByteBudget) => Promise<PlannedWrite | undefined>;

export interface SaveOptions {
  /** Plans again if the write is too large. */
  readonly replan?: Replan;
  /**
   * Leaves failed sends to the supervisor's wake-up: an API call succeeds as soon as its write is stored. Messages do not need this,
   * because the queue redelivers them.
   */
  readonly leavesUnsent?: boolean;
  /** Returns new documents for the transaction of the write. */
  readonly beside?: (after: StateHead) => readonly Document[];
}

/** Writes planned transitions, each in one conditional write, and sends what follows from them. */
export interface Writer {
  save(loaded: Loaded, planned: PlannedWrite, options?: SaveOptions): Promise<'written' | 'lost'>;
  /** Creates the order. `wakeUp`: the message that has it claimed later. */
  create(loaded: Loaded, planned: PlannedWrite, now: number, wakeUp: readonly Outgoing[]): ReturnType<Store['create']>;
  /** Restores the usual deadline after unsent requests were sent. */
  restoreDeadline(loaded: Loaded, now: number): Promise<'written' | 'lost'>;
  readonly sendAgain: Sending['sendAgain'];
}

/** The record keeps the ids of its last writes. A write whose answer was lost is refused when it is repeated, but finds its id there. */
const writeIdsKept = 4;

export function createWriter(options: WriterOptions): Writer {
  const { store, clock, telemetry, hostId } = options;
  // SQLite writes orders and queues in one transaction. DynamoDB and SQS have no transaction in common.
  const sending = store.writesAndSendsAtomically ? sendWithWrite(options) : outboxThenSend(options);
  let writes = 0;

  async function save(
    loaded: Loaded,
    planned: PlannedWrite,
    { replan, leavesUnsent = false, beside = () => [] }: SaveOptions = {},
  ): Promise<'written' | 'lost'> {
    const now = clock.now();
    if ((await endLock(options, loaded, planned)) === 'lost') return 'lost';
    const prepared = await sending.prepare(loaded, planned, now);
    const { instance, outbox } = prepared;
    const id = `${hostId}:${++writes}`;
    const rev = loaded.record.rev + 1;
    const writeIds = [...loaded.record.writeIds, { id, rev }].slice(-writeIdsKept);
    const written = fitted(withDeadline(loaded.program, instance, { ...planned.record, rev, outbox, writeIds }, now), instance);
    const byteBudget = byteBudgetOf(written, instance);
    const fitting = byteBudget === undefined ? undefined : await replan?.(byteBudget);
    if (fitting) return save(loaded, fitting, { leavesUnsent, beside });
    refuseImpossible(written);

    const { record, overflow } = written;
    const write = await store.update(record, loaded.record, { ...prepared.sentWithWrite, overflow, documents: beside(record) });
    if (write.outcome === 'refused' && !write.current?.writeIds.some((mine) => mine.id === id)) {
      telemetry.count('raceLost');
      return 'lost';
    }
    const saved = { ...loaded, record, instance };
    await reportWrite(options, saved, loaded, planned);
    await (leavesUnsent ? sendOrLeave(saved, () => prepared.send(saved)) : prepared.send(saved));
    return 'written';
  }

  async function sendOrLeave({ record, instance }: Loaded, send: () => Promise<void>): Promise<void> {
    try {
      await send();
    } catch (error) {
      if (isFatal(error)) throw error;
      telemetry.log('warn', 'stored order, but cannot send its messages yet', { orderId: record.orderId, error });
      telemetry.count('sendFailed');
      if (instance.lastRequested.length > 0) await markUnsent(record, options);
    }
  }

  return {
    save,
    sendAgain: sending.sendAgain,
    async restoreDeadline({ program, instance, record }, now) {
      const due = withDeadline(program, instance, { ...record, rev: record.rev + 1 }, now);
      return (await store.patch(due, record)).outcome === 'written' ? 'written' : 'lost';
    },
    async create(loaded, planned, now, wakeUp) {
      const { program, order } = loaded;
      const { instance, outbox, sentWithWrite, send } = await sending.prepare(loaded, planned, now, wakeUp);
      const writeIds = [{ id: `${hostId}:${++writes}`, rev: 1 }];
      const written = fitted(withDeadline(program, instance, { ...planned.record, rev: 1, outbox, writeIds }, now), instance);
      refuseImpossible(written);
      const { record, overflow } = written;
      const created = await store.create(order, record, { ...sentWithWrite, overflow });
      if (created.outcome !== 'written') return created;
      const saved = { program, order, record, instance };
      await reportWrite(options, saved, undefined, planned);
      await sendOrLeave(saved, () => send(saved));
      return created;
    },
  };
}

/**
 * Ends a lock whose time is over, in a separate write before the messages that came during it are sent. Clocks differ: a host whose clock
 * is behind may still keep a message. That host then reads this write, and sends the message. `lost`: the write must be planned again.
 */
async function endLock(options: WriterOptions, { record, instance }: Loaded, planned: PlannedWrite): Promise<'lost' | undefined> {
  const { store } = options;
  if (lockHolderOf(record) === undefined || planned.record.heldBy !== null) {
    await sendKept(options, record.orderId, instance, planned.instance);
    return undefined;
  }
  // A record that was rebuilt from its journal differs from the stored one.
  const head = await store.head(record.orderId);
  if (head?.heldBy === record.heldBy) await endLockByTime(store, head);
  return 'lost';
}

/** Reports a stored write. Counts the end of the order, and the acts of rules. The figures are approximate: an outage may cost some. */
async function reportWrite(options: WriterOptions, saved: Loaded, before: Loaded | undefined, { ruleUse }: PlannedWrite): Promise<void> {
  const { rules, finished, telemetry } = options;
  report(options, saved, before);
  if (finished && hasEnded(saved, before))
    await finished.ended().catch((error: unknown) => telemetry.log('warn', 'cannot count finished orders', { error }));
  if (ruleUse)
    await rules
      ?.count(saved.record, ruleUse)
      .catch((error: unknown) => telemetry.log('warn', 'cannot count rules', { orderId: saved.record.orderId, error }));
}

/** Logs the new journal lines. Reports each fault that blocks the order one time, even if the supervisor moved the order to Error. */
function report({ telemetry, onTerminated, onRest }: WriterOptions, saved: Loaded, before: Loaded | undefined): void {
  const { order, record, instance } = saved;
  const { orderId } = order;
  logJournal(telemetry, orderId, instance, before?.instance.seq ?? 0);
  const { blocked } = instance.state;
  if (blocked && !isQuestion(blocked.fault) && blocked !== before?.instance.state.blocked)
    callHook(telemetry, orderId, () => onTerminated?.(orderId, record));
  const isBlocked = blocked !== undefined && blocked !== before?.instance.state.blocked;
  if (onRest && (isBlocked || hasEnded(saved, before))) callHook(telemetry, orderId, () => onRest(saved));
}

const hasEnded = ({ record }: Loaded, before: Loaded | undefined): boolean =>
  record.processState === 'Processed' && before?.record.processState !== 'Processed';
