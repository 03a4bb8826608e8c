import type { Fault, FaultClass } from '#core/data/fault';
import type { CoreFact, Fact } from '#core/data/journal';
import { isObject, type Json, type JsonObject } from '#core/data/json';
import { initialState, type State } from '#core/data/state';
import type { WorkflowDefinition } from '#core/definition/definition';
import type { Handling } from '#core/exceptions/exception';
import type { UnattendedReason } from '#core/exceptions/unattended';
import type { RuleMemory } from '#core/rules/memory';
import type { AskedRule, DecidedAction, RuleFact } from '#core/rules/situation';
import { UnreadableRecordError } from '#ports/errors';
import type { Note, OrderRecord, Outcome, StateRecord } from '#ports/records';
import { jsonIn } from '#ports/util/json';
import type { Instruction } from '#roles/operator/instruction';
import type { Inconsistency } from '#roles/recovery/inconsistencies';
import { longWaitMs as usualMs } from './deadlines.ts';
import type { Standing } from './given-instructions.ts';
import type { Recorded } from './recorded-events.ts';
import type { RuleWatch } from './rule-watches.ts';
import type { RunningHandler } from './running-handler.ts';
import { lengthened, shortened } from './short-form.ts';
import type { TaskWatch } from './task-watches.ts';

/** A journal entry's content: a fact of the core, or of the order as a whole. */
export type OrderFact =
  | CoreFact
  | Note
  /** `v`: the version of the journal; absent if an older release began it. */
  | { readonly type: 'OrderSubmitted'; readonly workflow: string; readonly v?: number }
  | { readonly type: 'OrderClaimed'; readonly epoch: number }
  | { readonly type: 'OrderProcessed'; readonly outcome: Outcome }
  | {
      readonly type: 'InstructionGiven';
      readonly kind: Instruction['kind'];
      readonly by: string;
      readonly reason: string;
      /** The state of the order, and the values that the instruction changes. Entries of older releases have neither field. */
      readonly before?: Partial<Standing> & JsonObject;
      readonly after?: Partial<Standing> & JsonObject;
      /** The id of the solution that gave the instruction, or that was saved from it. */
      readonly solution?: string;
    }
  /** `until`: milliseconds since 1970. Renewing a lock writes this fact again. */
  | { readonly type: 'OrderLocked'; readonly by: string; readonly reason: string; readonly until: number }
  /** `by`: the person who ended the lock. `expired`: its time was over. */
  | { readonly type: 'OrderUnlocked'; readonly by: string; readonly expired?: true }
  | { readonly type: 'ResponseUndeliverable'; readonly channel: string }
  /**
   * A step was done. `reads` and `writes`: the full names of the objects that its operation declares. `requestedAt`: when it was first
   * requested under the key of this effect, in milliseconds since 1970; an older release does not write it.
   */
  | {
      readonly type: 'ObjectsUsed';
      readonly path: string;
      readonly requestedAt?: number;
      readonly reads?: readonly string[];
      readonly writes?: readonly string[];
    }
  /** A write that this order has read was undone: `id` names the undo. */
  | {
      readonly type: 'InconsistencyFound';
      readonly id: string;
      readonly cause: { readonly orderId: string; readonly path: string };
      /** The path of the recovery that undoes or repeats the steps that have read the write: no exception. `masked`: see `raiseMasked`. */
      readonly maskedBy?: string;
      readonly masked?: Pick<Inconsistency, 'uses' | 'causedBy'>;
      /** This order had already undone each of these uses: there is no exception. */
      readonly undone?: Inconsistency['uses'];
    }
  /** A step has failed after a recovery had canceled it. `maskedBy`: the path of the recovery. */
  | {
      readonly type: 'FaultMasked';
      readonly path: string;
      readonly fault: Fault;
      readonly maskedBy: string;
    }
  /** No person takes the task of a question. `id` names the message that said so. */
  | { readonly type: 'TaskUnattended'; readonly id: string; readonly taskId: string; readonly why: UnattendedReason }
  /** The first of the three facts of an exception (F-131). `by`: the person who reported it. */
  | { readonly type: 'ExceptionDetected'; readonly exceptionId: string; readonly by?: string }
  | {
      readonly type: 'ExceptionDiagnosed';
      readonly exceptionId: string;
      readonly class: FaultClass;
      readonly fingerprint: string;
      readonly rules: readonly AskedRule[];
    }
  | { readonly type: 'ExceptionHandled'; readonly exceptionId: string; readonly handling: Handling }
  /** Another order begins to handle the exception. `handler`: its id. */
  | { readonly type: 'HandlerStarted'; readonly exceptionId: string; readonly handler: string; readonly workflow: string }
  /** The order that handles the exception has ended. */
  | { readonly type: 'HandlerEnded'; readonly exceptionId: string; readonly handler: string; readonly isCompleted: boolean }
  /** A rule in force acts. What it does follows from the action, so a replay needs no rules. */
  | { readonly type: 'RuleActed'; readonly ruleId: string; readonly version: number; readonly action: DecidedAction }
  /** A rule in dry-run would have acted. */
  | { readonly type: 'RuleWouldHave'; readonly ruleId: string; readonly version: number; readonly action: DecidedAction }
  /** The order keeps the last 32 events for rules that combine several; it has forgotten the oldest. */
  | Extract<RuleFact, { type: 'RuleEventForgotten' }>
  /**
   * An unreadable instance was rebuilt from the journal. `whole`: the journal was complete. `exact`: the order goes on as if nothing had
   * happened; otherwise it can only be undone or ended. `by`: the person who asked for it, and why.
   */
  | { readonly type: 'InstanceRebuilt'; readonly whole: boolean; readonly exact?: true; readonly by?: string; readonly reason?: string }
  /** A write changed the instance without any other line. */
  | { readonly type: 'StateChanged' };

export type JournalEntry = Fact<OrderFact>;

/** A line of the journal as it is stored. */
export type StoredEntry = JournalEntry & Recorded;

/** One execution of a workflow, with the end of its journal; stored in the blob of a state record. */
export interface Instance {
  readonly state: State;
  /** The journal's last entries; older ones are in pages. */
  readonly tail: readonly StoredEntry[];
  /** The last entry's number. */
  readonly seq: number;
  /** Paths of the steps that the last write requested. A redelivered message makes the scheduler send these requests again. */
  readonly lastRequested: readonly string[];
  /** Keys of the last API calls with an idempotency key, oldest first: see `callKey`. */
  readonly keys?: readonly string[];
  /** The fields that differ in the order that replaces this one. Absent: no order replaces it. */
  readonly restart?: { readonly order?: Json; readonly version?: number };
  /** Set as soon as older keys are stored outside of the state: see `CallKeys`. */
  readonly pagedKeys?: true;
  /** Instructions that have resolved tasks, and whose verdict is not known yet. Absent: none. */
  readonly watches?: readonly TaskWatch[];
  /** The memory of rules about the order; absent while no rule concerns it. */
  readonly rules?: OrderRules;
  /** Set after a recovery has masked an undone write, until the order ends. If the write still matters then, it raises an exception. */
  readonly hasMasked?: true;
}

/** The memory of rules about one order. */
export interface OrderRules {
  readonly memory?: RuleMemory;
  /** Causes of the open tasks that rules opened. Tasks of exceptions are not listed here. */
  readonly tasks?: readonly string[];
  /** Actions whose verdict is not known yet. */
  readonly watches?: readonly RuleWatch[];
  /** The next time at which rules are asked about the age of the order or a late step: milliseconds since 1970. */
  readonly wakeAt?: number;
  /** The times since which steps are late, by the id of the rule event that reports the lateness. */
  readonly lateSince?: { readonly [eventId: string]: number };
  /** The orders that handle exceptions of this one, and have not ended. */
  readonly handlers?: readonly RunningHandler[];
}

/** Number of idempotency keys of API calls in the instance. Each write of the order is billed for them, so older keys become documents. */
export const keysKept = 20;

export const newInstance: Instance = { state: initialState, tail: [], seq: 0, lastRequested: [] };

/**
 * Encodes an instance as text. DynamoDB bills each byte at each write. A journal entry therefore omits its number and
 * has the milliseconds since the previous entry instead of its time. Requested steps have a short form.
 */
export function encodeInstance({ seq, tail, state, ...instance }: Instance): string {
  const short = tail.map(({ seq: _, at, ...fact }, index) => ({ at: at - (tail[index - 1]?.at ?? 0), ...fact }));
  // The tail comes before the state, so that the journal can be read even if the text is cut off or the state is damaged.
  return JSON.stringify({ seq, tail: short, state: { ...state, activities: shortened(state.activities) }, ...instance });
}

type Timed = OrderFact & Recorded & { readonly at: number };

/** The tail entries of an unreadable blob, up to the first damaged one. */
export interface SalvagedTail {
  readonly entries: readonly Timed[];
  /** Whether these are all entries; then `seq` is the number of the last one. */
  readonly whole: boolean;
  readonly seq?: number;
}

export function salvagedTail(blob: string): SalvagedTail {
  const [head = '', seq] = /^\{"seq":(\d+),"tail":\[/.exec(blob) ?? [];
  const entries: Timed[] = [];
  for (let from = head.length, at = 0; head !== '' && blob[from] !== ']'; ) {
    const end = endOfObject(blob, from);
    const entry = end === undefined ? undefined : factIn(blob.slice(from, end));
    if (end === undefined || entry === undefined) return { entries, whole: false };
    at += entry.at;
    entries.push({ ...entry, at });
    from = blob[end] === ',' ? end + 1 : end;
  }
  return head === '' ? { entries, whole: false } : { entries, whole: true, seq: Number(seq) };
}

/** Returns the index after the object that begins at `from`; undefined if no object ends there. */
function endOfObject(text: string, from: number): number | undefined {
  if (text[from] !== '{') return undefined;
  for (let at = from, depth = 0, quoted = false; at < text.length; at++) {
    const character = text[at];
    if (quoted && character === '\\') at++;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && character === '{') depth++;
    else if (!quoted && character === '}' && --depth === 0) return at + 1;
  }
  return undefined;
}

function factIn(text: string): Timed | undefined {
  const fact = jsonIn(text);
  return isObject(fact) && typeof fact['type'] === 'string' && Number.isFinite(fact['at']) ? (fact as unknown as Timed) : undefined;
}

/** Decodes a record's blob; throws UnreadableRecordError if it is damaged, which affects this order alone. */
export function decodeInstance(record: StateRecord): Instance {
  try {
    const { tail, state, ...instance } = JSON.parse(record.blob) as Instance;
    let at = 0;
    const entries = tail.map((entry, index) => {
      at += entry.at;
      return { ...entry, seq: instance.seq - tail.length + 1 + index, at };
    });
    if (typeof state.phase === 'string' && Number.isFinite(at))
      return { ...instance, state: { ...state, activities: lengthened(state.activities) }, tail: entries };
  } catch {
    // Falls through: any error means that the blob is damaged.
  }
  throw new UnreadableRecordError(record.orderId, 'its instance is damaged');
}

/** Returns the instance of a record; undefined if it is damaged. */
export function readableInstance(record: StateRecord): Instance | undefined {
  try {
    return decodeInstance(record);
  } catch (error) {
    if (error instanceof UnreadableRecordError) return undefined;
    throw error;
  }
}

/** Numbers facts and appends them to the journal. */
export function journal(instance: Instance, facts: readonly OrderFact[], at: number): Instance {
  if (facts.length === 0) return instance;
  const entries = facts.map((fact, index): JournalEntry => ({ seq: instance.seq + index + 1, at, ...fact }));
  return { ...instance, tail: [...instance.tail, ...entries], seq: instance.seq + facts.length };
}

/** Settings of the deployment that an order keeps from its creation. */
export interface Pinned {
  readonly stepMs: number;
  readonly maxFailures: number;
  readonly longWaitMs?: number | undefined;
}

type Limits = Pick<Partial<WorkflowDefinition>, 'recover' | 'maxFailures' | 'onExhausted' | 'longWaitSeconds'>;

/** Builds the record of a new order: Pending and unclaimed. */
export const newRecord = (
  order: OrderRecord,
  definition: Limits,
  { stepMs, maxFailures, longWaitMs, hash }: Pinned & { readonly hash: string | null },
): StateRecord => ({
  schemaVersion: 1,
  orderId: order.orderId,
  submittedAt: order.submittedAt,
  rev: 0,
  epoch: 0,
  lockedBy: null,
  completeBy: null,
  processState: 'Pending',
  outcome: null,
  failureCount: 0,
  errorGen: 0,
  suspended: false,
  remainingMs: null,
  fault: null,
  heldBy: null,
  heldUntil: null,
  nextDueAt: null,
  nextDueFor: null,
  worklist: null,
  worklistAt: null,
  recover: definition.recover ?? 'step',
  maxFailures: definition.maxFailures ?? maxFailures,
  onExhausted: definition.onExhausted ?? 'error',
  ...longWaitOf(definition, longWaitMs),
  stepMs,
  client: order.client,
  responseChannel: order.responseChannel ?? null,
  statusSeq: 0,
  workflow: order.workflow,
  definition: hash,
  lastBy: [],
  writeIds: [],
  outbox: [],
  notes: [],
  updatedAt: order.submittedAt,
  blob: encodeInstance(newInstance),
});

/**
 * Returns the pause between the requests of a step that has passed its failure limit. It is left out where it is the usual one, or where
 * steps do not wait: each write is billed by its bytes.
 */
function longWaitOf({ onExhausted, longWaitSeconds }: Limits, deploymentMs?: number): Pick<StateRecord, 'longWaitMs'> {
  const ms = longWaitSeconds === undefined ? deploymentMs : longWaitSeconds * 1000;
  return onExhausted !== 'wait' || ms === undefined || ms === usualMs ? {} : { longWaitMs: ms };
}
