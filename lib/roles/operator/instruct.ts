import type { ByteBudget } from '#core/engine/transition';
import type { Clock } from '#ports/clock';
import { InstanceLockedError, InvariantError, StateTooLargeError, UnreadableRecordError } from '#ports/errors';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { rebuild } from '#roles/repair/rebuild';
import { isHeldByOther, type LockPolicy, racesMax, withLockPolicy } from '#roles/scheduler/lease';
import type { Orders } from '#roles/scheduler/orders';
import type { Incoming, Loaded } from '#roles/scheduler/types';
import type { Writer } from '#roles/scheduler/writer';
import type { SubmissionProblem } from '#roles/submission/submission';
import { type InstructionPlan, infeasibleReasons, instructionPlan, problemsWith } from './feasibility.ts';
import { createCallKeys } from './idempotency.ts';
import type { Decision } from './instruction.ts';

export type Instructed =
  | { readonly outcome: 'done'; readonly rev: number }
  /** The same call, under the same idempotency key, was carried out before. */
  | { readonly outcome: 'replayed'; readonly rev: number }
  /** Another call had this idempotency key. */
  | { readonly outcome: 'key-reused' }
  | { readonly outcome: 'planned'; readonly plan: InstructionPlan }
  | { readonly outcome: 'not-found' }
  | { readonly outcome: 'stale'; readonly rev: number }
  | { readonly outcome: 'invalid'; readonly problems: readonly SubmissionProblem[] }
  | { readonly outcome: 'infeasible'; readonly reasons: readonly string[] };

/**
 * Applies an operator's instruction or a signal, or returns why it is refused and changes nothing. `key`: see `callKey`.
 *
 * @throws InstanceLockedError when another host holds the lease for longer than the lock policy waits.
 */
export type Instruct = (
  orderId: string,
  decision: Decision,
  how: { readonly id: string; readonly ifMatch?: number; readonly dryRun?: boolean; readonly key?: string },
) => Promise<Instructed>;

interface Ports {
  readonly store: Store;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Names this host in claims and leases. */
  readonly hostId: string;
  readonly lockPolicy?: LockPolicy;
}

/** An order to decide on. `losses`: the reasons why a rebuilt order cannot be undone. */
interface Found {
  readonly loaded: Loaded;
  readonly losses: readonly string[];
}

/** Whether the record is damaged. A record of another program version is not: that version may return at any time. */
const isDamage = (error: unknown): boolean => error instanceof UnreadableRecordError && error.newerUntil === undefined;

export function createInstructing(
  { store, clock, telemetry, hostId, lockPolicy = 'NoRetry' }: Ports,
  orders: Orders,
  writer: Pick<Writer, 'save'>,
): Instruct {
  const callKeys = createCallKeys(store, () => clock.now());

  async function asItIs(orderId: string): Promise<Found | undefined> {
    const loaded = await orders.load(orderId);
    return loaded && { loaded, losses: [] };
  }

  /** Rebuilds an order from its journal, so that it can be undone although its instance cannot be read. */
  async function rebuiltOne(orderId: string): Promise<Found | undefined> {
    const found = await store.load(orderId);
    if (!found) return undefined;
    const { order, state } = found;
    const program = orders.programOf(orderId, state);
    const { instance, problems: losses } = rebuild({ program, order, record: state }, await store.pages(orderId), clock.now());
    // Forces a new claim, so that replies to earlier requests do not count.
    const processState = state.processState === 'Processed' ? state.processState : 'Error';
    return { loaded: { program, order, record: { ...state, lockedBy: null, processState }, instance, rebuilt: true }, losses };
  }

  /** Loads the order, or rebuilds it. Another host may have rebuilt it meanwhile, and its writes must not be lost. */
  async function wholeOrRebuilt(orderId: string): Promise<Found | undefined> {
    try {
      return await asItIs(orderId);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return rebuiltOne(orderId);
    }
  }

  /** Applies a decision. To undo or terminate an order, a damaged or inconsistent instance is rebuilt if necessary. */
  async function instruct(...[orderId, decision, how]: Parameters<Instruct>): Promise<Instructed> {
    const isUndone = decision.kind === 'compensate' || decision.kind === 'terminate';
    for (const find of isUndone ? [asItIs, wholeOrRebuilt] : []) {
      try {
        return await instructFound(find, orderId, decision, how);
      } catch (error) {
        if (!(isDamage(error) || error instanceof InvariantError)) throw error;
      }
    }
    return instructFound(isUndone ? rebuiltOne : asItIs, orderId, decision, how);
  }

  async function instructFound(find: typeof asItIs, ...[orderId, decision, how]: Parameters<Instruct>): Promise<Instructed> {
    const { id, ifMatch, dryRun = false, key } = how;
    for (let race = 1; race <= racesMax; race++) {
      // Reasons refer to the time before the read: else a slow read could refuse a call that was carried out meanwhile.
      const readAt = clock.now();
      const found = await find(orderId);
      if (!found) return { outcome: 'not-found' };
      const { loaded, losses } = found;
      const { rev, heldUntil } = loaded.record;
      const now = clock.now();
      if (!dryRun && isHeldByOther(loaded.record, hostId, now)) throw new InstanceLockedError(orderId, heldUntil ?? now);
      const before = await callKeys.before(orderId, loaded.instance, key);
      if (before !== undefined) return before === 'replayed' ? { outcome: before, rev } : { outcome: 'key-reused' };
      if (ifMatch !== undefined && ifMatch !== rev) return { outcome: 'stale', rev };
      const reasons = [...infeasibleReasons(loaded, decision, readAt), ...(decision.kind === 'compensate' ? losses : [])];
      if (reasons.length > 0) return { outcome: 'infeasible', reasons };
      const problems = problemsWith(loaded, decision);
      if (problems.length > 0) return { outcome: 'invalid', problems };

      const incoming = [incomingOf(decision, id, key)];
      const planned = await orders.planOf(loaded, incoming, now);
      if (!planned) return { outcome: 'infeasible', reasons: ['The order would not change.'] };
      if (dryRun) return { outcome: 'planned', plan: instructionPlan(planned) };
      if (key !== undefined) await callKeys.pageOut(orderId, loaded.instance);
      const replan = (byteBudget: ByteBudget) => orders.planOf(loaded, incoming, now, byteBudget);
      if ((await writer.save(loaded, planned, { replan, leavesUnsent: true })) === 'written') return { outcome: 'done', rev: rev + 1 };
    }
    return { outcome: 'infeasible', reasons: ['Other writes to this order won every race. Try again.'] };
  }

  return (orderId, decision, how) =>
    withLockPolicy(() => instruct(orderId, decision, how).catch(refusal), {
      policy: lockPolicy,
      clock,
      withinMs: lockWaitMaxMs,
      onAttempt: () => telemetry.count('lockAttempt'),
    });
}

/** Limit of all waits for a lease. API Gateway ends an HTTP call after 30 seconds. */
const lockWaitMaxMs = 10_000;

const incomingOf = (decision: Decision, id: string, key: string | undefined): Incoming => ({
  id,
  ...(decision.kind === 'signal' ? { type: 'signal', signal: decision } : { type: 'instruction', instruction: decision }),
  ...(key === undefined ? {} : { key }),
});

/** Converts an error of a decision that would violate an invariant or a size limit to a refusal. */
const refusal = (error: unknown): Instructed => {
  if (error instanceof InvariantError || error instanceof StateTooLargeError) return { outcome: 'infeasible', reasons: [error.message] };
  throw error;
};
