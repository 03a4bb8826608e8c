import type { ByteBudget } from '#core/engine/transition';
import { type Check, refusedCheck } from '#core/instructions/check';
import { kindOf } from '#core/instructions/index';
import { type InstructionRefusal, type Judged, refusal } from '#core/instructions/kind';
import { type Past, pastOf } from '#core/instructions/past';
import type { Rule } from '#core/rules/rule';
import type { UsedSolution } from '#core/solutions/solution';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import type { Document } from '#ports/documents';
import { InstanceLockedError, InvariantError, StateTooLargeError } from '#ports/errors';
import type { Keys } from '#ports/keys';
import { timeText } from '#ports/messages';
import { type StateHead, subjectOf } from '#ports/records';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { compareAndSet } from '#ports/util/compare-and-set';
import { migrated } from '#roles/repair/migrated';
import { isHeldByOther, type LockPolicy, lockHolderOf, personHolder, withLockPolicy } from '#roles/scheduler/lease';
import type { Found, Orders } from '#roles/scheduler/orders';
import { wholeJournal } from '#roles/scheduler/step-report';
import type { Incoming, Loaded, PlannedWrite } from '#roles/scheduler/types';
import type { Writer } from '#roles/scheduler/writer';
import { type OrderKey, orderKeyIn } from '#roles/secrets/order-key';
import type { SubmissionProblem } from '#roles/submission/submission';
import { checkOfPlan } from './check.ts';
import { type InstructionPlan, instructionPlan, judgedOf, problemsWith, refusalsOf, schemasIn } from './feasibility.ts';
import { type Find, onOrder } from './find.ts';
import { type CallKey, createCallKeys, storedCallKey } from './idempotency.ts';
import { type Given, isInstruction } from './instruction.ts';
import { bringsValues, withPayloadSealed } from './sealed-payload.ts';

export type Instructed =
  /** `exception`: the number of the exception that was reported. */
  | { readonly outcome: 'done'; readonly rev: number; readonly exception?: number }
  /** The same API call, under the same idempotency key, was carried out before. */
  | { readonly outcome: 'replayed'; readonly rev: number; readonly exception?: number }
  /** Another API call had this idempotency key. */
  | { readonly outcome: 'key-reused' }
  /** The answer to a dry run. `plan`: how the order would stand; absent if the instruction is infeasible. */
  | { readonly outcome: 'planned'; readonly check: Check; readonly plan?: InstructionPlan }
  | { readonly outcome: 'not-found' }
  | { readonly outcome: 'stale'; readonly rev: number }
  | { readonly outcome: 'invalid'; readonly problems: readonly SubmissionProblem[] }
  | { readonly outcome: 'infeasible'; readonly refusals: readonly InstructionRefusal[] };

/**
 * Applies an instruction, a signal or a report, or returns why it is refused and changes nothing. `key`: see `callKey`.
 *
 * @throws InstanceLockedError when another host holds the lease for longer than the lock policy waits.
 */
export type Instruct = (orderId: string, given: Given, how: How) => Promise<Instructed>;

interface How {
  /** The id of the API call, by which a write that has applied the call is recognized. */
  readonly id: string;
  /** The operator who gives the instruction. An order that an operator has locked accepts instructions of that operator alone. */
  readonly caller?: string;
  /** The `rev` that the order must have. */
  readonly ifMatch?: number;
  readonly dryRun?: boolean;
  readonly key?: CallKey;
  /** The solution that gives the instruction, or that is made of the instruction. */
  readonly solution?: UsedSolution;
  /** Returns new documents for the transaction of a write that applies what is given. After a lost race it is called again. */
  readonly beside?: (before: StateHead, after: StateHead) => readonly Document[];
}

interface Ports {
  readonly store: Store;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly definitions: Pick<Definitions, 'catalog' | 'program' | 'newest'>;
  /** The keys that encrypt the secrets of signals and answers. Absent: these secrets are stored in plain text. */
  readonly keys?: Keys | undefined;
  /** Names this host in claims and leases. */
  readonly hostId: string;
  readonly lockPolicy?: LockPolicy;
}

export function createInstructing(
  { store, clock, telemetry, keys, definitions, hostId, lockPolicy = 'NoRetry' }: Ports,
  orders: Orders,
  writer: Pick<Writer, 'save'>,
): Instruct {
  const callKeys = createCallKeys(store, () => clock.now());
  const schemas = schemasIn(definitions);

  async function decideOnce(find: Find, ...[orderId, given, how]: Parameters<Instruct>): Promise<Instructed | 'lost'> {
    const { ifMatch, dryRun = false } = how;
    // The time before the read counts: a time limit that ends during it must not refuse a call that was carried out meanwhile.
    const readAt = clock.now();
    const found = await find(orderId);
    if (!found) return { outcome: 'not-found' };
    const { loaded } = found;
    const { rev, heldUntil } = loaded.record;
    const now = clock.now();
    const isOthers = !isLockedBy(how.caller, loaded) && isHeldByOther(loaded.record, hostId, now);
    const until = isOthers ? (heldUntil ?? now) : undefined;
    if (!dryRun && until !== undefined) throw new InstanceLockedError(orderId, until, lockHolderOf(loaded.record));
    const orderKey = await keyFor(loaded, given, how, keys);
    const key = how.key && storedCallKey(how.key, orderKey);
    const before = await callKeys.before(orderId, loaded.instance, key);
    if (before !== undefined) return before.outcome === 'replayed' ? { ...before, rev } : before;
    if (ifMatch !== undefined && ifMatch !== rev) return { outcome: 'stale', rev };
    const judged = judgedOf(loaded, { schemas, now: readAt, past: await pastFor(loaded, given, store), definitions });
    const seal = (): Given => (orderKey && keys ? withPayloadSealed(judged, given, orderKey, keys) : given);
    const taken = refused(found, given, { judged, until, dryRun }) ?? (await moved(loaded, given, { definitions, store, dryRun }));
    return 'outcome' in taken ? taken : carryOut(taken, seal(), { ...how, key, judged }, now);
  }

  async function carryOut(
    loaded: Loaded,
    given: Given,
    how: Omit<How, 'key'> & { readonly key: string | undefined; readonly judged: Judged },
    now: number,
  ): Promise<Instructed | 'lost'> {
    const { id, dryRun = false, key, beside, judged, solution } = how;
    const { orderId, rev } = loaded.record;
    const incoming = [incomingOf(given, { id, key, past: judged.past, solution })];
    const plan = (byteBudget?: ByteBudget) => takenPlan(id, orders.planOf(loaded, incoming, now, byteBudget));
    const planned = await plan();
    if (!planned) return infeasible(loaded, [nothingToDo], dryRun);
    const violated = keepsGoing(given) ? await orders.violatedBy(loaded, planned, now) : [];
    if (violated.length > 0) return infeasible(loaded, violated.map(forbidden), dryRun);
    if (dryRun)
      return { outcome: 'planned', check: await checkOfPlan(loaded, planned, { given, judged, store }), plan: instructionPlan(planned) };
    if (key !== undefined) await callKeys.pageOut(orderId, loaded.instance);
    const saved = await writer.save(loaded, planned, {
      replan: plan,
      leavesUnsent: true,
      ...(beside ? { beside: (after: StateHead) => beside(loaded.record, after) } : {}),
    });
    if (saved !== 'written') return 'lost';
    return { outcome: 'done', rev: rev + 1, ...(planned.reported === undefined ? {} : { exception: planned.reported }) };
  }

  async function instruct(...[orderId, given, how]: Parameters<Instruct>): Promise<Instructed> {
    const instructed = await onOrder(given, orders, (find) => compareAndSet(() => decideOnce(find, orderId, given, how)));
    return instructed === 'lost' ? { outcome: 'infeasible', refusals: [movedOn] } : instructed;
  }

  return (orderId, given, how) =>
    withLockPolicy(() => instruct(orderId, given, how).catch((error) => refusedWrite(error, how)), {
      policy: lockPolicy,
      clock,
      withinMs: lockWaitMaxMs,
      onAttempt: () => telemetry.count('lockAttempt'),
    });
}

/**
 * Resolves to a plan only if it carries out what is given. Otherwise an order without room for a signal could be written without that
 * signal.
 */
async function takenPlan(id: string, plan: Promise<PlannedWrite | undefined>): Promise<PlannedWrite | undefined> {
  const planned = await plan;
  return planned?.taken.includes(id) ? planned : undefined;
}

/** Whether this person has locked the order. */
const isLockedBy = (caller: string | undefined, { record }: Loaded): boolean =>
  caller !== undefined && record.heldBy === personHolder(caller);

/** Reads the journal if the kind of the instruction needs it. */
async function pastFor({ program, order, instance }: Loaded, given: Given, store: Pick<Store, 'pages'>): Promise<Past> {
  if (!isInstruction(given) || !kindOf(given).readsHistory) return new Map();
  return pastOf(program, subjectOf(order), wholeJournal(await store.pages(order.orderId), instance.tail));
}

interface Moving {
  readonly definitions: Pick<Definitions, 'program'>;
  readonly store: Pick<Store, 'pages'>;
  readonly dryRun: boolean;
}

/** Moves the order to the version of its workflow that the instruction names; returns the order unchanged for any other instruction. */
async function moved(loaded: Loaded, given: Given, { definitions, store, dryRun }: Moving): Promise<Loaded | Instructed> {
  if (given.kind !== 'migrate') return loaded;
  const { name } = loaded.record.workflow;
  const target = definitions.program(name, given.version);
  if (!target) throw new Error(`The app has no version ${given.version} of ${name}.`);
  const result = migrated(loaded, target, await store.pages(loaded.order.orderId));
  if (result.ok) return result.loaded;
  const about = result.path === undefined ? {} : { path: result.path };
  return infeasible(loaded, [refusal('version-differs', result.reason, about)], dryRun);
}

/**
 * Decrypts the order's key if the call needs it: to compare the content of the call with that of an earlier call, or to seal its payload.
 */
async function keyFor({ order }: Loaded, given: Given, how: How, keys: Keys | undefined): Promise<OrderKey | undefined> {
  const needsKey = how.key !== undefined || bringsValues(given);
  return needsKey && order.key !== undefined ? orderKeyIn(order.key, order.orderId, keys) : undefined;
}

interface RefusalContext {
  readonly judged: Judged;
  /** The time until which another host or person holds the order, if one does. */
  readonly until: number | undefined;
  readonly dryRun: boolean;
}

/** Returns why an instruction, a signal or a report cannot be carried out on the order; undefined if it can. */
function refused({ loaded, losses }: Found, given: Given, { judged, until, dryRun }: RefusalContext): Instructed | undefined {
  const refusals = [
    ...(until === undefined ? [] : [held(until)]),
    ...refusalsOf(judged, given),
    ...(given.kind === 'compensate' ? losses.map((detail) => refusal('unreadable', detail)) : []),
  ];
  if (refusals.length > 0) return infeasible(loaded, refusals, dryRun);
  const problems = problemsWith(judged, given);
  return problems.length > 0 ? { outcome: 'invalid', problems } : undefined;
}

/** Returns the answer to an API call that is infeasible. A dry run answers with its check. */
const infeasible = (loaded: Loaded | undefined, refusals: readonly InstructionRefusal[], dryRun = false): Instructed =>
  dryRun
    ? { outcome: 'planned', check: refusedCheck(loaded && { program: loaded.program, state: loaded.instance.state }, refusals) }
    : { outcome: 'infeasible', refusals };

const held = (until: number): InstructionRefusal =>
  refusal('locked', `Another process or person holds this order until ${timeText(until)}. Try again then.`);

const nothingToDo = refusal(
  'nothing-to-do',
  'The order has already done what this call asks for, so nothing would change. Look at its present state.',
);

/**
 * Whether constraints apply. They never keep a person from stopping or ending an order, from reporting an exception or from closing one.
 */
const keepsGoing = ({ kind }: Given): boolean => !unconstrained.has(kind);
const unconstrained: ReadonlySet<Given['kind']> = new Set([
  'report',
  'cancel',
  'compensate',
  'terminate',
  'restart',
  'suspend',
  'acknowledge',
  'handle',
]);

const forbidden = ({ id, name }: Rule): InstructionRefusal =>
  refusal('constraint', `The rule ${id} forbids this: ${name.replace(/\.$/, '')}. Give other values, or change the rule.`);

const movedOn = refusal('moved-on', 'Other writes changed the order at the same time, several times in a row. Try again.');

/** Limit of all waits for a lease. API Gateway ends an HTTP call after 30 seconds. */
export const lockWaitMaxMs = 10_000;

interface IncomingParts {
  readonly id: string;
  readonly key: string | undefined;
  readonly past: Past;
  readonly solution: UsedSolution | undefined;
}

const incomingOf = (given: Given, { id, key, past, solution }: IncomingParts): Incoming => ({
  id,
  ...messageOf(given, past, solution),
  ...(key === undefined ? {} : { key }),
});

function messageOf(given: Given, past: Past, solution: UsedSolution | undefined) {
  if (isInstruction(given)) return { type: 'instruction', instruction: given, past, ...(solution ? { solution } : {}) } as const;
  return given.kind === 'signal' ? ({ type: 'signal', signal: given } as const) : ({ type: 'report', report: given } as const);
}

/**
 * Converts the error of a write that would violate an invariant or a size limit to a refusal.
 *
 * @throws any other error, as it is.
 */
function refusedWrite(error: unknown, { dryRun }: How): Instructed {
  if (error instanceof InvariantError || error instanceof StateTooLargeError)
    return infeasible(undefined, [refusal('too-large', error.message)], dryRun);
  throw error;
}
