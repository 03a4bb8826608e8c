import { isDeepStrictEqual } from 'node:util';
import { advance } from '#core/advance';
import type { Event, EventContent } from '#core/data/event';
import type { CoreFact } from '#core/data/journal';
import { initialState, type State } from '#core/data/state';
import { impliedEvent, type Known } from '#core/engine/implied-event';
import { mostLate } from '#core/engine/lateness';
import type { Transition } from '#core/engine/transition';
import { subjectOf } from '#ports/records';
import { withKey } from '#roles/operator/idempotency';
import { timesOf } from '#roles/scheduler/deadlines';
import { type Instance, newInstance, type StoredEntry } from '#roles/scheduler/instance';
import { journalVersion, knownOf, type RecordedEvent, shownLine } from '#roles/scheduler/recorded-events';
import { redactedFact, secretsOf } from '#roles/scheduler/redaction';
import type { Loaded } from '#roles/scheduler/types';
import { givenBy, isHidden, otherEvents, untoldBy } from './old-journals.ts';

type Order = Omit<Loaded, 'instance'>;

/** `reason`: a sentence about the first line that the events do not explain. */
export type Folded = { readonly ok: true; readonly instance: Instance } | { readonly ok: false; readonly reason: string };

/** An order after the event of some lines, while its journal is folded. */
export interface FoldedMoment {
  /** The lines that the event led to, or one line that follows from no event of the core. */
  readonly lines: readonly StoredEntry[];
  readonly state: State;
  readonly epoch: number;
  /** Copies the instance with all lines up to now, which takes time. */
  readonly instance: () => Instance;
}

/**
 * Rebuilds an instance exactly: applies the events of a whole journal one after the other, and compares what follows from each with the
 * recorded facts. Pure. `lines`: as stored, from the first to the last. `visit` sees the order after each event.
 */
export function folded(order: Order, lines: readonly StoredEntry[], visit?: (moment: FoldedMoment) => void): Folded {
  const result = explained(order, lines, visit);
  const wrong = result.ok ? differenceFrom(order, result.instance.state) : undefined;
  return wrong === undefined ? result : { ok: false, reason: wrong };
}

/** Does what `folded` does, but does not compare the result with the record: another version of the workflow may have other time limits. */
export function explained(order: Order, lines: readonly StoredEntry[], visit?: (moment: FoldedMoment) => void): Folded {
  try {
    return { ok: true, instance: foldedState(order, lines, visit) };
  } catch (error) {
    if (error instanceof Unexplained) return { ok: false, reason: error.message };
    return { ok: false, reason: `The events of the journal do not fit the workflow (${(error as Error).message}).` };
  }
}

/** The journal does not tell the state. */
class Unexplained extends Error {}

const refuse = (line: StoredEntry | undefined, what: string): never => {
  throw new Unexplained(line ? `Line ${line.seq} of the journal (${line.type}) ${what}` : `The journal ${what}`);
};

function foldedState(order: Order, lines: readonly StoredEntry[], visit?: (moment: FoldedMoment) => void): Instance {
  const fold = new Fold(order, lines);
  while (fold.at < lines.length) {
    const from = fold.at;
    fold.next();
    visit?.(fold.moment(from));
  }
  fold.end();
  const seq = lines.at(-1)?.seq ?? 0;
  return { ...fold.instance(), seq, lastRequested: lastRequested(lines) };
}

/** Returns the paths that the last write requested: all lines of one write have the same time. */
function lastRequested(lines: readonly StoredEntry[]): readonly string[] {
  const { at } = lines.at(-1) ?? {};
  return lines.flatMap((line) => (line.type === 'StepRequested' && line.at === at ? [line.path] : []));
}

const copied = (instance: Instance): Instance => JSON.parse(JSON.stringify(instance)) as Instance;

class Fold {
  /** The index of the next line. */
  at = 0;
  private state: State = initialState;
  private epoch = 0;
  /** An instruction of an older release, until its event is applied. */
  private given: { readonly event: EventContent; readonly at: number } | undefined;
  private beside: Omit<Instance, 'state' | 'tail' | 'seq' | 'lastRequested'> = {};
  private readonly order: Order;
  private readonly lines: readonly StoredEntry[];
  private readonly known: Known;
  /** Whether an older release began the journal. It did not keep events. */
  private readonly isOld: boolean;

  constructor(order: Order, lines: readonly StoredEntry[]) {
    this.order = order;
    this.lines = lines;
    this.known = knownOf(order);
    const [first] = lines;
    if (first?.type !== 'OrderSubmitted') refuse(first, 'is not its beginning.');
    this.isOld = first?.type === 'OrderSubmitted' && first.v !== journalVersion;
  }

  instance(): Instance {
    return copied({ ...newInstance, ...this.beside, state: this.state });
  }

  /** Returns the order as it is now. `from`: the index of the first line of its last event. */
  moment(from: number): FoldedMoment {
    const { state, beside, epoch, at } = this;
    const instance = () => {
      const tail = this.lines.slice(0, at);
      return copied({ ...newInstance, ...beside, state, seq: tail.at(-1)?.seq ?? 0, tail });
    };
    return { lines: this.lines.slice(from, at), state, epoch, instance };
  }

  /** Applies the next line, and the others that follow from the same event. */
  next(): void {
    const line = this.lines[this.at] as StoredEntry;
    if (this.isOld) this.refuseUntold(line);
    if (line.type !== 'OrderClaimed') this.applyGiven();
    const count = isCore(line) ? this.explain(line) : this.applyOther(line);
    this.at += count;
    for (const each of this.lines.slice(this.at - count, this.at)) this.applyRest(each);
  }

  /** Applies what is left after the last line. */
  end(): void {
    this.applyGiven();
    if (this.given) refuse(this.lines.at(-1), 'is not followed by what its event leads to.');
  }

  private refuseUntold(line: StoredEntry): void {
    const why = untoldBy(this.known, this.state, line);
    if (why !== undefined) refuse(line, why);
  }

  /** Applies an instruction of an older release that led to no line of the core. A claim line after it is applied first. */
  private applyGiven(): void {
    if (!this.given) return;
    const { event, at } = this.given;
    const { state, facts } = this.advanced(event, at, this.epoch);
    if (facts.length > 0) return;
    this.state = state;
    this.given = undefined;
  }

  private applyOther(line: StoredEntry): number {
    if (this.given && line.type !== 'OrderClaimed') refuse(line, 'is not what the instruction before it leads to.');
    const event = this.isOld ? givenBy(line) : undefined;
    if (event) this.given = { event, at: line.at };
    if (line.type === 'OrderClaimed') this.epoch = line.epoch;
    if (line.type === 'OrderReset') this.epoch += 1;
    if (line.type === 'InstanceRebuilt' && !line.exact) refuse(line, 'replaced the state by one that can only be undone.');
    if (this.isOld && isExpiry(line) && !this.isKept(line))
      this.apply({ type: 'counted', ...(line.path === undefined ? {} : { path: line.path }) }, line.at);
    return 1;
  }

  /** Whether the journal has kept an event for the expiry notes that follow one another from this line on. */
  private isKept(line: StoredEntry): boolean {
    const end = this.lines.findIndex((each, index) => index >= this.at && !isExpiry(each));
    const run = this.lines.slice(this.at, end < 0 ? undefined : end);
    return line.further !== undefined || run.some(({ further }) => further !== undefined);
  }

  /** Applies the event whose first fact a line is. Returns the number of its facts. */
  private explain(line: StoredEntry & CoreFact): number {
    const implied = impliedEvent(this.known, this.state, line);
    const others = this.isOld ? otherEvents(this.known, this.state, line) : [];
    const guesses = this.given ? [this.given.event] : [implied, ...others];
    this.given = undefined;
    const wrong: string[] = [];
    for (const event of line.event ? [line.event] : guesses) {
      if (line.event === undefined && isHidden(event)) refuse(line, 'hides a secret, and its event was not kept.');
      for (const epoch of this.epochsFrom(line)) {
        const result = this.advanced(event, line.at, epoch);
        const difference = this.differenceIn(result);
        if (difference !== undefined) {
          wrong.push(difference);
          continue;
        }
        this.state = result.state;
        this.epoch = epoch;
        return result.facts.length;
      }
    }
    return refuse(line, `does not follow from the lines before it. ${wrong[0]}`);
  }

  /** Returns the epochs that the event of a line may have. After a restore from a backup, only a request tells the order's new epoch. */
  private epochsFrom({ seq, at }: StoredEntry): readonly number[] {
    const request = this.lines.find((each) => each.type === 'StepRequested' && each.seq >= seq && each.at === at);
    const epoch = request?.type === 'StepRequested' ? Number(/#(\d+)\./.exec(request.attemptId)?.[1]) : this.epoch;
    return epoch === this.epoch ? [epoch] : [this.epoch, epoch];
  }

  private advanced(recorded: RecordedEvent, at: number, epoch: number): Transition {
    const { budget, at: own = at, ...event } = recorded;
    const happened = { ...event, at: own, epoch } as Event;
    const inputs = budget ? { byteBudget: budget } : {};
    return advance(this.known.program, subjectOf(this.order.order), this.state, happened, inputs);
  }

  private apply(event: RecordedEvent, at: number): void {
    const { state, facts } = this.advanced(event, at, this.epoch);
    const line = this.lines[this.at];
    if (facts.length > 0) refuse(line, `does not tell that ${event.type} had the fact ${facts[0]?.type}.`);
    this.state = state;
  }

  private applyRest({ further = [], also = {}, at }: StoredEntry): void {
    for (const event of further) this.apply(event, at);
    for (const [field, value] of Object.entries(also)) {
      if (field === 'keys') for (const key of value as string[]) this.addKey(key);
      else this.beside = { ...this.beside, [field]: value ?? undefined };
    }
  }

  private addKey(key: string): void {
    const { keys = [], pagedKeys } = withKey({ ...newInstance, ...this.beside }, key);
    this.beside = { ...this.beside, keys, ...(pagedKeys ? { pagedKeys } : {}) };
  }

  /** Returns how the facts of a transition differ from the lines; undefined if they are the same. */
  private differenceIn({ facts, state }: Transition): string | undefined {
    const secrets = facts.length === 0 ? [] : secretsOf({ ...this.order, instance: { ...newInstance, state } });
    const expected = facts.map((fact) => redactedFact(this.known.program, fact, secrets));
    if (expected.length === 0) return 'Its event changes nothing.';
    for (const [index, fact] of expected.entries()) {
      const line = this.lines[this.at + index];
      const { seq: _, at: __, ...recorded } = line ? shownLine(line) : { seq: 0, at: 0, type: 'nothing' };
      if (!isDeepStrictEqual(JSON.parse(JSON.stringify(fact)), recorded))
        return `Expected ${JSON.stringify(fact)}, found ${JSON.stringify(recorded)}.`;
    }
    return undefined;
  }
}

/** The lines that the core writes. */
const coreTypes: { readonly [type in CoreFact['type']]: true } = {
  ActivityStarted: true,
  StepRequested: true,
  StepExtended: true,
  AttemptFailed: true,
  ReplyRecorded: true,
  ActivityClosed: true,
  FaultRaised: true,
  ActivityFaulting: true,
  CleanUpStarted: true,
  FaultHandled: true,
  RunFailed: true,
  CancelRequested: true,
  LateResult: true,
  OutcomeUnknown: true,
  UndoFailed: true,
  SignalReceived: true,
  MarkedCompensated: true,
  ActivitySkipped: true,
  OrderBlocked: true,
  OrderUnblocked: true,
};

const isCore = (line: StoredEntry): line is StoredEntry & CoreFact => line.type in coreTypes;

type Expiry = Extract<StoredEntry, { type: 'DeadlineExpired' | 'OrderReset' }> & { readonly path?: string };
const isExpiry = (line: StoredEntry): line is Expiry => line.type === 'DeadlineExpired' || line.type === 'OrderReset';

/** Returns how a state differs from the attributes of its record; undefined if they agree. Notes of the supervisor are not in the state yet. */
function differenceFrom({ program, record }: Order, state: State): string | undefined {
  const expected = { ...timesOf(program, state), failureCount: mostLate(program, state) };
  const { completeBy, remainingMs, failureCount, notes } = record;
  // The supervisor sets the times of an order that it resets, until the order is claimed again.
  const isSupervisors = record.processState === 'Pending' || record.notes.some(isNoteOfExpiry);
  if (!isSupervisors && !isDeepStrictEqual(expected, { completeBy, remainingMs, failureCount }))
    return `The journal leads to ${JSON.stringify(expected)}, and the record has ${JSON.stringify({ completeBy, remainingMs, failureCount })}.`;
  const isAlike = statesOf(state).includes(record.processState) || (record.processState === 'Error' && state.phase !== 'closed');
  return isAlike
    ? undefined
    : `The journal leads to the phase ${state.phase}, and the record is ${record.processState} with ${notes.length} notes.`;
}

const isNoteOfExpiry = ({ type }: Order['record']['notes'][number]): boolean =>
  type === 'DeadlineExpired' || type === 'OrderReset' || type === 'ThresholdExceeded' || type === 'DeadlineMoved';

function statesOf({ phase }: State): readonly string[] {
  switch (phase) {
    case 'initialized':
      return ['Pending'];
    case 'blocked':
      return ['Error'];
    case 'closed':
      return ['Processed'];
    case 'running':
    case 'suspended':
      return ['Pending', 'Processing'];
  }
}
