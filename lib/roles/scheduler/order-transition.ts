import type { StepState } from '#core/activities/step';
import { advance } from '#core/advance';
import type { CancelCommand, Command, RequestCommand } from '#core/data/command';
import type { Event, EventContent } from '#core/data/event';
import { engineFault, engineFaults, type Fault, isQuestion, shortType } from '#core/data/fault';
import { requestIdOf } from '#core/data/ids';
import { type Json, type JsonObject, utf8Bytes } from '#core/data/json';
import { masked, secretTexts, withoutTexts } from '#core/definition/secrets';
import { violations } from '#core/engine/invariants';
import { mostLate, workingSteps } from '#core/engine/lateness';
import type { ByteBudget } from '#core/engine/transition';
import { InvariantError } from '#ports/errors';
import type { StatusKind } from '#ports/messages';
import { announcedAs, type DetailType, type FaultSummary, type Note, type OutboxEntry, type StateRecord, subjectOf } from '#ports/records';
import { contentOf } from '#roles/operator/event-content';
import { withKey } from '#roles/operator/idempotency';
import type { Instruction, Signal } from '#roles/operator/instruction';
import { countedUntil, isStopped, thawedDue, timesOf } from './deadlines.ts';
import { type Instance, journal, type OrderFact } from './instance.ts';
import { alertDetail, announcementOf, callerReplyOf, processedId, statusOf } from './order-messages.ts';
import { secretOutputAt, secretsOf, summaryOf } from './redaction.ts';
import { isForAgent, isValid, replied, withoutSecrets } from './replies.ts';
import type { Incoming, Loaded, NeedsPage, PlannedWrite, Settings } from './types.ts';

/** Builds one transition of an order: the core's state, and the record attributes that other roles read. */
export class OrderTransition {
  private readonly loaded: Loaded;
  private readonly now: number;
  private readonly settings: Settings;
  private record: StateRecord;
  private instance: Instance;
  private readonly commands: Command[] = [];
  private readonly outbox: OutboxEntry[] = [];
  private readonly taken: string[] = [];
  private readonly wakeUps: string[] = [];
  private changed = false;
  private needs: number | undefined;

  constructor(loaded: Loaded, now: number, settings: Settings) {
    this.loaded = loaded;
    this.now = now;
    this.settings = settings;
    this.record = loaded.record;
    this.instance = loaded.instance;
  }

  /** Moves a Pending order to Processing in one write: claims it, then starts it or continues it after a reset. */
  claim(): void {
    this.lock();
    if (this.instance.state.phase === 'initialized') this.start();
    else this.applyEvent({ type: 'reclaimed' });
  }

  /** Ends an order that has not begun. */
  cancel(): void {
    this.applyEvent({ type: 'canceled', outcome: 'canceled' });
  }

  private start(): void {
    const called = this.loaded.order.caller ? { called: true as const } : {};
    this.applyEvent({ type: 'started', stepMs: this.record.stepMs, ...called });
  }

  private lock(): void {
    const epoch = this.record.epoch + 1;
    this.set({ epoch, lockedBy: this.settings.hostId, processState: 'Processing' });
    this.note({ type: 'OrderClaimed', epoch });
  }

  /** Passes the supervisor's notes to the core and the journal, because the supervisor does not read the instance. */
  takeNotes(): void {
    const { notes } = this.record;
    if (notes.length === 0) return;
    const { changed } = this;
    this.instance = journal(this.instance, notes, this.now);
    for (const note of notes) if (isExpiry(note)) this.count(note);
    this.record = { ...this.record, notes: [] };
    // Notes are stored with the next write but do not cause one, so a stale reply still writes nothing.
    this.changed = changed;
  }

  private count(note: ExpiryNote): void {
    const { maxFailures, onExhausted } = this.record;
    const path = 'path' in note ? note.path : undefined;
    const waitsUntil = onExhausted === 'wait' && note.failureCount > maxFailures ? countedUntil(this.record) : undefined;
    this.applyEvent({ type: 'counted', ...(path === undefined ? {} : { path }), ...(waitsUntil === undefined ? {} : { waitsUntil }) });
  }

  /** Returns the record and the instance with the supervisor's notes alone. */
  withNotes(): Pick<PlannedWrite, 'record' | 'instance'> {
    this.takeNotes();
    return { record: { ...this.record, failureCount: this.failureCount() }, instance: this.instance };
  }

  private failureCount(): number {
    return mostLate(this.loaded.program, this.instance.state);
  }

  /** Blocks the instance if the supervisor moved the record to Error, or if the record was quarantined. */
  catchUp(): void {
    const { nextDueFor, processState, fault } = this.record;
    if (processState !== 'Error' || this.instance.state.phase !== 'running') return;
    const isOverdue = fault === null || fault.type === shortType(engineFaults.deadlineExceeded);
    this.applyEvent({ type: 'exhausted', ...(nextDueFor?.path ? { path: nextDueFor.path } : {}), ...(isOverdue ? {} : { fault }) });
  }

  take(incoming: Incoming): void {
    const before = this.instance.state;
    switch (incoming.type) {
      case 'reply':
        if (isForAgent(this.current(), incoming) && isValid(this.current(), incoming, this.settings))
          this.applyEvent(replied(this.current(), incoming, this.secrets(), this.settings));
        break;
      case 'heartbeat':
        if (isForAgent(this.current(), incoming))
          this.applyEvent({ type: 'heartbeat', requestId: incoming.requestId, completeBy: incoming.completeBy });
        break;
      case 'instruction':
        this.instruct(incoming.instruction, incoming.key);
        break;
      case 'signal':
        this.signal(incoming.signal, incoming.key);
        break;
      case 'compensate':
        this.compensateForCaller();
        break;
      case 'wake-up':
        this.wakeUps.push(incoming.id);
        this.changed ||= this.loaded.record.notes.length > 0;
        if (isUnclaimed(this.record)) this.claim();
        return;
    }
    // Suspending an unclaimed order changes its record, but not its instance.
    if (this.instance.state !== before || incoming.type === 'instruction') this.taken.push(incoming.id);
  }

  /** Requests the steps that the supervisor counted and that have no answer yet, and the steps whose requests were never sent. */
  requestOverdue(): void {
    const { nextDueFor, processState } = this.record;
    const isCounted = nextDueFor?.kind === 'request' || nextDueFor?.kind === 'unsent' || nextDueFor?.waitsUntil !== undefined;
    if (processState !== 'Processing' || isStopped(this.record) || !isCounted) return;
    this.dealWithExhaustion();
    this.applyEvent({ type: 'expired' });
  }

  /** Applies the workflow's `onExhausted` to steps above their failure limit. */
  private dealWithExhaustion(): void {
    const { maxFailures, onExhausted, recover } = this.record;
    const exhausted = workingSteps(this.loaded.program, this.instance.state).filter(
      ({ local, activity: { late = 0 } }) => late > maxFailures && local.completeBy <= this.now,
    );
    if (exhausted.length > 0 && onExhausted === 'undo') this.applyEvent({ type: 'canceled', outcome: 'compensated' });
    if (onExhausted === 'fault' && recover === 'step') for (const { path } of exhausted) this.applyEvent({ type: 'overdue', path });
  }

  wake(): void {
    if (this.record.processState === 'Processing') this.applyEvent({ type: 'woken' });
  }

  status(status: StatusKind): void {
    const { responseChannel, statusSeq } = this.record;
    if (responseChannel === null) return;
    this.set({ statusSeq: statusSeq + 1 });
    this.outbox.push(statusOf(this.record, this.loaded.order, responseChannel, status, this.now));
  }

  note(...facts: OrderFact[]): void {
    if (facts.length === 0) return;
    this.instance = journal(this.instance, facts, this.now);
    this.changed = true;
  }

  /** Returns the undo page that the transition needs. Until it is read, no event is applied. */
  neededPage(): NeedsPage | undefined {
    return this.needs === undefined ? undefined : { needs: this.needs };
  }

  finish(evenUnchanged = false): PlannedWrite | undefined {
    if (!this.changed && !evenUnchanged) return undefined;
    this.recordPhase();
    this.refuseNonsense();

    const requests = this.commands.filter(
      (command): command is RequestCommand => command.type === 'request' && this.isOutstanding(command),
    );
    const instance = { ...this.instance, lastRequested: requests.map(({ path }) => path) };
    const record = {
      ...this.record,
      ...timesOf(this.loaded.program, instance.state),
      failureCount: this.failureCount(),
      lastBy: [...this.taken, ...this.wakeUps],
      outbox: [...this.record.outbox, ...this.outbox],
      updatedAt: this.now,
    };
    const wakeUps = this.commands.flatMap((command) => (command.type === 'wake' ? [command.at] : []));
    const cancels = this.commands.filter((command): command is CancelCommand => command.type === 'cancel');
    return { record, instance, requests, cancels, wakeUps, outbox: this.outbox, taken: this.taken };
  }

  /** Copies the core's phase to the record: a closed order is Processed, a blocked one is in Error. */
  private recordPhase(): void {
    const { phase, blocked } = this.instance.state;
    const { processState } = this.record;
    if (phase === 'closed' && processState !== 'Processed') {
      const { outcome = 'completed' } = this.instance.state;
      this.set({ processState: 'Processed', outcome, fault: null, lockedBy: null });
      this.note({ type: 'OrderProcessed', outcome });
      if (this.settings.announceProcessed)
        this.announce('Order Processed', processedId(this.record, this.loaded.order, outcome), { outcome });
      this.status(outcome === 'completed' ? 'completed' : 'failed');
      this.outbox.push(...callerReplyOf(this.record, this.loaded.order, this.instance.state, this.now));
    }
    if (!blocked) return;
    if (processState === 'Error') this.set({ fault: this.summaryOf(blocked.fault) });
    else this.enterError(blocked.fault);
    if (blocked !== this.loaded.instance.state.blocked) this.announceTerminated(blocked.fault);
  }

  /** Moves the order to Error. The alert is part of the same write, so neither exists without the other. */
  private enterError(fault: Fault): void {
    const errorGen = this.record.errorGen + 1;
    this.set({ processState: 'Error', errorGen, fault: this.summaryOf(fault) });
    this.announce('Order In Error', `${announcedAs(this.record)}#${errorGen}`, this.detailOf(fault));
  }

  /** Announces once that no handler takes the fault, also if the supervisor moved the order to Error. */
  private announceTerminated(fault: Fault): void {
    // A question to a person is part of the workflow, not a failure.
    if (!isQuestion(fault))
      this.announce('Workflow Terminated', `${announcedAs(this.record)}#${this.record.errorGen}/terminated`, this.detailOf(fault));
    this.status('delayed');
  }

  private detailOf(fault: Fault): JsonObject {
    const before = this.loaded.instance.state.phase === 'running' ? 'Processing' : this.loaded.record.processState;
    return alertDetail(this.summaryOf(fault), { before, after: 'Error', failureCount: this.failureCount() });
  }

  /** Applies a signal. Unlike an instruction, it leaves an order in Error there; the order keeps the signal. */
  private signal({ name, payload }: Signal, key: string | undefined): void {
    this.instance = withKey(this.instance, key);
    if (isUnclaimed(this.record) && this.instance.state.phase === 'running') this.claim();
    this.applyEvent({ type: 'signaled', name, payload });
  }

  private instruct(instruction: Instruction, key: string | undefined): void {
    const { by, reason, kind } = instruction;
    this.instance = withKey(this.instance, key);
    this.note({ type: 'InstructionGiven', kind, by, reason });
    if (kind === 'suspend') {
      this.set({ suspended: true });
      return this.applyEvent(contentOf(instruction, this.instance.state));
    }
    if (kind === 'resume') return this.resume();
    this.set({ processState: 'Processing', fault: null, suspended: false });
    // An order that went into Error unclaimed, or after a reset, is claimed by this instruction.
    if (this.record.lockedBy === null) this.lock();
    if (kind === 'resubmit' && this.instance.state.phase === 'initialized') return this.start();
    this.applyEvent(contentOf(instruction, this.instance.state));
  }

  /** Resumes the order, and claims it if it is unclaimed. If it went into Error meanwhile, it becomes blocked. */
  private resume(): void {
    const { phase, suspendedAt = this.now } = this.instance.state;
    this.set({ suspended: false, nextDueFor: thawedDue(this.record.nextDueFor, Math.max(0, this.now - suspendedAt)) });
    const isFree = isUnclaimed(this.record);
    if (isFree && phase === 'initialized') return this.claim();
    if (isFree) this.lock();
    this.applyEvent({ type: 'resumed' });
    if (isFree) this.applyEvent({ type: 'reclaimed' });
    this.catchUp();
  }

  /** Begins to undo a completed order for its caller. The order is Processing until its effects are undone. */
  private compensateForCaller(): void {
    const { phase, outcome, called } = this.instance.state;
    if (phase !== 'closed' || outcome !== 'completed' || !called) return;
    this.lock();
    this.set({ outcome: null });
    this.applyEvent({ type: 'compensatedByCaller' });
  }

  private announce(detailType: DetailType, id: string, detail: JsonObject): void {
    this.outbox.push(announcementOf(this.record, detailType, id, detail, this.now));
  }

  private applyEvent(event: EventContent): void {
    const { program, order, undoPages: pages = new Map() } = this.loaded;
    const happened = { ...event, at: this.now, epoch: this.record.epoch } as Event;
    const transition = advance(program, subjectOf(order), this.instance.state, happened, { pages, byteBudget: this.byteBudget() });
    this.needs ??= transition.needs;
    if (this.needs !== undefined) return;
    if (transition.state === this.instance.state && transition.facts.length === 0) return;
    this.instance = { ...this.instance, state: transition.state };
    this.changed = true;
    this.note(...transition.facts.map((fact) => this.redacted(fact)));
    this.commands.push(...transition.commands);
    for (const fact of transition.facts) if (fact.type === 'UndoFailed' && fact.stuck) this.announceStuck(fact);
  }

  /** Returns the byte budget that is left for the next event. */
  private byteBudget(): ByteBudget | undefined {
    const { byteBudget } = this.settings;
    const added = this.instance.tail.filter(({ seq }) => seq > this.loaded.instance.seq) as unknown as readonly Json[];
    return byteBudget && { ...byteBudget, journal: byteBudget.journal - utf8Bytes(added) };
  }

  /** Announces that an undo keeps failing, so that an operator looks for the cause. The scheduler continues to retry it. */
  private announceStuck({ path, attemptId, fault }: Extract<OrderFact, { type: 'UndoFailed' }>): void {
    const told = this.summaryOf(fault ?? engineFault(engineFaults.deadlineExceeded, 'Its agent does not answer.'));
    const failureCount = Number(attemptId.slice(attemptId.lastIndexOf('.') + 1));
    const detail = alertDetail(told, { source: path, before: 'Compensating', after: 'Compensating', failureCount });
    this.announce('Compensation Stuck', `${announcedAs(this.record)}/stuck/${path}/${attemptId}`, detail);
  }

  /** Whether a request must be sent: a later event of this transition may have closed or repeated its step. */
  private isOutstanding({ path, requestId }: RequestCommand): boolean {
    const local = this.instance.state.activities[path]?.local as StepState | undefined;
    return local?.phase === 'requested' && requestIdOf(this.record.orderId, path, local) === requestId;
  }

  /** Removes secrets from a fact, because everyone who may read the order sees its journal. */
  private redacted(fact: OrderFact): OrderFact {
    if ('fault' in fact && fact.fault) return { ...fact, fault: withoutSecrets(fact.fault, this.secrets()) };
    if (fact.type !== 'ActivityClosed' || fact.output === undefined) return fact;
    const pointers = secretOutputAt(this.loaded.program, fact.path);
    return { ...fact, output: withoutTexts(masked(fact.output, pointers), [...this.secrets(), ...secretTexts(fact.output, pointers)]) };
  }

  private secrets(): readonly string[] {
    return secretsOf(this.current());
  }

  private current(): Loaded {
    return { ...this.loaded, record: this.record, instance: this.instance };
  }

  private summaryOf(fault: Fault): FaultSummary {
    return summaryOf(withoutSecrets(fault, this.secrets()));
  }

  private refuseNonsense(): void {
    const wrong = violations(this.loaded.program, this.instance.state);
    if (wrong.length > 0) throw new InvariantError(`Order ${this.record.orderId} would violate an invariant: ${wrong.join('; ')}.`);
  }

  private set(change: Partial<StateRecord>): void {
    this.record = { ...this.record, ...change };
    this.changed = true;
  }
}

/** Whether a scheduler may claim the order: it is Pending, unclaimed and not suspended. */
const isUnclaimed = ({ processState, lockedBy, suspended }: StateRecord): boolean =>
  processState === 'Pending' && lockedBy === null && !suspended;

type ExpiryNote = Extract<Note, { type: 'DeadlineExpired' | 'OrderReset' | 'ThresholdExceeded' }>;

const isExpiry = (note: Note): note is ExpiryNote =>
  note.type === 'DeadlineExpired' || note.type === 'OrderReset' || note.type === 'ThresholdExceeded';
