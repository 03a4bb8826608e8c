import type { Clock } from '#ports/clock';
import type { Document } from '#ports/documents';
import { InstanceLockedError, isDamage } from '#ports/errors';
import type { StateHead } from '#ports/records';
import { compareAndSet, racesMaxUsual } from '#ports/util/compare-and-set';
import { differenceBetween } from '#roles/repair/compare';
import { isHeldByOther, type LockPolicy, lockHolderOf, personHolder, withLockPolicy } from '#roles/scheduler/lease';
import type { Examined, Orders } from '#roles/scheduler/orders';
import type { Writer } from '#roles/scheduler/writer';
import { lockWaitMaxMs } from './instruct.ts';

/** The stored state of an order, and the one that its journal tells. */
export interface Examination {
  readonly head: Pick<StateHead, 'rev' | 'processState'>;
  /** Whether the stored state can be read. */
  readonly isReadable: boolean;
  /** The number of journal lines, and of the pages that hold the older ones. */
  readonly lines: number;
  readonly pages: number;
  /**
   * A sentence that says where the journal ends too early, or where it and the state differ; absent if they agree, or if the stored state
   * cannot be read and the journal is complete.
   */
  readonly difference?: string;
}

export type Rebuilt =
  | { readonly outcome: 'not-found' | 'finished' }
  /** `healthy`: the stored state is what the journal tells. `infeasible`: the journal does not tell a state. */
  | { readonly outcome: 'examined' | 'rebuilt' | 'healthy' | 'infeasible'; readonly found: Examination };

interface RebuildOptions {
  /** Names the API call. */
  readonly id: string;
  /** The operator. */
  readonly by: string;
  readonly reason: string;
  readonly dryRun: boolean;
  /** Returns new documents for the transaction of the write. */
  readonly beside: (before: StateHead, after: StateHead) => readonly Document[];
}

/**
 * Replaces the state of an order by the one that its journal tells, if the stored one cannot be read or differs. An order that was in Error
 * for that reason alone continues.
 *
 * @throws InstanceLockedError when another person or host holds the order for longer than the lock policy waits.
 */
export type Rebuilding = (orderId: string, options: RebuildOptions) => Promise<Rebuilt>;

interface Ports {
  readonly clock: Clock;
  readonly hostId: string;
  readonly lockPolicy?: LockPolicy;
}

export function createRebuilding(
  { clock, hostId, lockPolicy = 'NoRetry' }: Ports,
  orders: Pick<Orders, 'load' | 'examine' | 'refold' | 'planOf'>,
  writer: Pick<Writer, 'save'>,
): Rebuilding {
  async function rebuildOnce(...[orderId, options]: Parameters<Rebuilding>): Promise<Rebuilt | 'lost'> {
    const { by, dryRun } = options;
    const examined = await orders.examine(orderId);
    if (!examined) return { outcome: 'not-found' };
    const found = examinationOf(examined);
    if (dryRun) return { outcome: 'examined', found };
    const { record } = examined.known;
    if (record.processState === 'Processed') return { outcome: 'finished' };
    const isOthers = record.heldBy !== personHolder(by) && isHeldByOther(record, hostId, clock.now());
    if (isOthers) throw new InstanceLockedError(orderId, record.heldUntil ?? clock.now(), lockHolderOf(record));
    if (!examined.refolded.ok) {
      // If the state is missing, this read stores a stand-in for it. Then the order is quarantined, and a person hears of it.
      await orders.load(orderId).catch(ignoreDamage);
      return { outcome: 'infeasible', found };
    }
    if (found.isReadable && found.difference === undefined) return { outcome: 'healthy', found };
    return write(orderId, options, found);
  }

  async function write(orderId: string, { id, by, reason, beside }: RebuildOptions, found: Examination): Promise<Rebuilt | 'lost'> {
    const loaded = await orders.refold(orderId, { by, reason });
    // Another write came between the two reads.
    if (!loaded || loaded.record.rev !== found.head.rev) return 'lost';
    const now = clock.now();
    const wakeUp = [{ id, type: 'wake-up' }] as const;
    const planned = await orders.planOf(loaded, wakeUp, now);
    if (!planned) return 'lost';
    const saved = await writer.save(loaded, planned, {
      replan: (byteBudget) => orders.planOf(loaded, wakeUp, now, byteBudget),
      leavesUnsent: true,
      beside: (after) => beside(loaded.record, after),
    });
    const { processState } = planned.record;
    return saved === 'written' ? { outcome: 'rebuilt', found: { ...found, head: { rev: loaded.record.rev + 1, processState } } } : 'lost';
  }

  async function rebuild(...[orderId, options]: Parameters<Rebuilding>): Promise<Rebuilt> {
    const result = await compareAndSet(() => rebuildOnce(orderId, options));
    if (result === 'lost') throw new Error(`Cannot rebuild order ${orderId}: other writes won all ${racesMaxUsual} races. Try again.`);
    return result;
  }

  return (...call) => withLockPolicy(() => rebuild(...call), { policy: lockPolicy, clock, withinMs: lockWaitMaxMs });
}

function ignoreDamage(error: unknown): void {
  if (!isDamage(error)) throw error;
}

function examinationOf({ known, stored, refolded }: Examined): Examination {
  const { rev, processState } = known.record;
  const { lines, pages } = refolded;
  const difference = refolded.ok ? stored && differenceBetween(stored, refolded.instance) : undefined;
  const sentence = refolded.ok ? difference && `The journal and the state have different values of ${difference.field}.` : refolded.reason;
  const head = { rev, processState };
  return { head, isReadable: stored !== undefined, lines, pages, ...(sentence === undefined ? {} : { difference: sentence }) };
}
