import { behaviorOf, runsAgain } from '#core/activities/index';
import type { StepState } from '#core/activities/step';
import { type Command, requestCommand } from '#core/data/command';
import type { Event, StepReply } from '#core/data/event';
import { type Fault, ranTwice } from '#core/data/fault';
import { attemptIdOf } from '#core/data/ids';
import { type CoreFact, closedFact } from '#core/data/journal';
import { type Json, utf8Bytes } from '#core/data/json';
import type { ActivityState, Outcome, State } from '#core/data/state';
import { type Activity, isRemote, limits } from '#core/definition/definition';
import { inputOf, nodeAt, type Program, parentOf } from '#core/definition/program';
import { type Attempt, type Behavior, type Closing, type Context, childPath, type Next, type Start } from './behavior.ts';
import { ActivityContext } from './context.ts';
import { isHandled, isUsedUp } from './fault-routing.ts';
import { doneNoMore, restarted, variablesOf, withOutput, withoutMemo, withoutReadOutputs, withoutSignal } from './memory.ts';
import { ChildIndex } from './parents.ts';
import type { ByteBudget, Inputs, Subject, Transition } from './transition.ts';
import type { UndoPages } from './undo-pages.ts';
import { numberedBytes, Sizes } from './value-sizes.ts';

/** The policies that this class calls: `lifecycle.ts` and `size-limit.ts` implement them, and depend on this class. */
interface Rules {
  applyOutcome(builder: TransitionBuilder, path: string, next: Next<unknown>): void;
  notifyParent(builder: TransitionBuilder, path: string, parent: string | undefined, closing: Closing): void;
  block(builder: TransitionBuilder, path: string, question: Fault): void;
  refused(builder: TransitionBuilder, path: string, next: Next<unknown>): Next<unknown> | undefined;
}

/**
 * One transition under construction. It holds the states of activities and carries out the verbs of behaviors.
 * `lifecycle.ts` closes activities and `compensation.ts` undoes them, both through this class.
 */
export class TransitionBuilder {
  readonly program: Program;
  readonly subject: Subject;
  readonly event: Event;
  state: State;
  readonly commands: Command[] = [];
  private readonly facts: CoreFact[] = [];
  private readonly queue: (() => void)[] = [];
  private starting: readonly string[] | undefined;
  private stopped: ReadonlySet<string> | undefined;
  /** Activities that block the order. Another fault of the same instant may still cancel them (see `advance`). */
  private blocking: readonly string[] | undefined;
  /** While true, a blocked activity does not stop the others. */
  continuesWhileBlocked = false;
  private copied = false;
  private startedCount = 0;
  private needs: number | undefined;
  private childIndex: ChildIndex | undefined;
  private readonly rules: Rules;
  private readonly sizes = new Sizes();
  readonly pages: UndoPages;
  readonly byteBudget: ByteBudget | undefined;
  /** Bytes of the facts so far; counted only with a byte budget. */
  factBytes = 0;

  constructor(program: Program, subject: Subject, state: State, event: Event, rules: Rules, { pages = new Map(), byteBudget }: Inputs) {
    this.rules = rules;
    this.pages = pages;
    this.byteBudget = byteBudget;
    this.program = program;
    this.subject = subject;
    this.state = state;
    this.event = event;
  }

  activity(path: string): ActivityState | undefined {
    return this.state.activities[path];
  }

  node(path: string): Activity {
    return nodeAt(this.program, path);
  }

  behavior(path: string): Behavior {
    return behaviorOf(this.node(path).activity);
  }

  local(path: string): unknown {
    return this.state.activities[path]?.local;
  }

  /** Returns the activity that is notified when this one closes. */
  parentFor(path: string): string | undefined {
    return this.activity(path)?.parent ?? parentOf(path);
  }

  /** Returns the open activities directly inside an activity, and the undos it has started. */
  children(path: string): readonly string[] {
    return this.childIndexOf().childrenOf(path);
  }

  hasChildren(path: string): boolean {
    return this.childIndexOf().hasChildren(path);
  }

  private childIndexOf(): ChildIndex {
    this.childIndex ??= new ChildIndex(Object.keys(this.state.activities), (path) => this.parentFor(path));
    return this.childIndex;
  }

  /** Replaces the state by one that `memory.ts` has changed. */
  replaceState(state: State): void {
    this.state = state;
  }

  set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
  }

  put(path: string, activity: ActivityState): void {
    const isNew = this.childIndex !== undefined && this.activity(path) === undefined;
    this.writable()[path] = activity;
    if (isNew) this.childIndex?.add(path, this.parentFor(path));
  }

  patch(path: string, change: Partial<ActivityState>): void {
    const activity = this.activity(path);
    if (activity) this.put(path, { ...activity, ...change });
  }

  /** Sets the fault of an activity. The fault either propagates, or waits for a person if nothing handles it. */
  faulting(path: string, fault: Fault, awaitsPerson = false): void {
    const { awaitsPerson: _, ...activity } = this.activity(path) ?? { status: 'Faulting' as const };
    if (this.activity(path)) this.put(path, { ...activity, status: 'Faulting', fault, ...(awaitsPerson ? { awaitsPerson: true } : {}) });
  }

  canceling(path: string): void {
    const { awaitsPerson: _, ...activity } = this.activity(path) ?? { status: 'Canceling' as const };
    if (this.activity(path)) this.put(path, { ...activity, status: 'Canceling' });
  }

  /** Replaces the local state of an activity. Its status stays. */
  setLocal(path: string, local: unknown): void {
    const activity = this.activity(path) ?? { status: 'Executing' as const };
    const answered = activity.reply ? withoutReply(activity) : activity;
    this.put(path, local === undefined ? answered : { ...answered, local });
  }

  remove(path: string): void {
    this.childIndex?.remove(path, this.parentFor(path));
    delete this.writable()[path];
  }

  fact(fact: CoreFact): void {
    this.facts.push(fact);
    if (this.byteBudget) this.factBytes += utf8Bytes(fact as unknown as Json) + numberedBytes;
  }

  later(job: () => void): void {
    this.queue.push(job);
  }

  /** Runs the queued jobs. A queue instead of recursion: ten thousand activities that close at once must not overflow the stack. */
  drain(): void {
    for (let job = this.queue.shift(); job; job = this.queue.shift()) if (this.state.phase !== 'closed' && this.needs === undefined) job();
  }

  /** Returns the bytes of the state so far, as JSON. */
  bytes(): number {
    return this.sizes.ofState(this.state);
  }

  get portion(): number {
    return Math.max(0, limits.portionMax - this.startedCount);
  }

  /** Requests a page of the undo list. The caller loads it and applies the event again. */
  need(page: number): void {
    this.needs ??= page;
  }

  finish(): Transition {
    const { state, commands, facts, needs } = this;
    return { state, commands, facts, ...(needs === undefined ? {} : { needs }) };
  }

  /** Returns the context of an activity. `reader`: the path at which its expressions are evaluated, if another. */
  context(path: string, reader?: string): Context {
    return new ActivityContext(this, path, reader);
  }

  /** Returns the body of the nearest running handler around an activity. */
  handlerAround(at: string): string | undefined {
    for (let path = at, around = parentOf(path); around !== undefined; path = around, around = parentOf(path))
      if (this.activity(around)?.handling) return path;
    return undefined;
  }

  /** Starts an activity. The journal gets an `ActivityStarted` unless the activity sends a request, which has its own fact. */
  execute(path: string): void {
    const node = this.node(path);
    const vars = runsAgain(node) ? variablesOf(this.state, node) : undefined;
    const { pagedUndo } = this.state;
    const above = pagedUndo && this.behavior(path).children(node).length > 0 ? { above: pagedUndo.top } : {};
    this.put(path, { status: 'Executing', ...(vars ? { vars } : {}), ...above });
    const next = behaviorOf(node.activity).execute(node, this.context(path));
    if (!next.request) this.fact({ type: 'ActivityStarted', path });
    this.apply(path, next);
  }

  /** Carries out the outcome of a behavior. The order of these lines is the order in which things happen. */
  apply(path: string, wanted: Next<unknown> | undefined): void {
    if (wanted === undefined) return;
    const next = this.rules.refused(this, path, wanted) ?? wanted;
    if (next.raise && next.onlyIfHandled && this.isToWait(path, { ...next.raise, source: path })) return this.failForNow(path, next);
    if (next.state !== undefined) this.setLocal(path, next.state);
    if (next.takeSignal) this.replaceState(withoutSignal(this.state, next.takeSignal));
    if (next.question) this.rules.block(this, path, next.question);
    if (next.assign) this.set({ vars: { ...this.state.vars, ...next.assign } });
    if (next.undoFailed) this.fact({ type: 'UndoFailed', path, attemptId: attemptIdOf(this.local(path) as StepState), ...next.undoFailed });
    if (next.request) this.requestAttempt(path, next.request);
    if (next.requestAgain) this.requestAgain(path);
    if (next.resetsVariables) this.replaceState(restarted(this.program, this.state, path));
    for (const start of next.run ?? []) this.startLater(path, start);
    this.startedCount += next.run?.length ?? 0;
    this.rules.applyOutcome(this, path, next);
    if (next.state !== undefined && !next.undoNext) this.wakeLater(path);
  }

  private startLater(path: string, start: Start): void {
    if (!this.behavior(path).cancel) return this.later(() => this.startChild(path, start));
    this.starting = [...(this.starting ?? []), path];
    this.later(() => {
      this.starting = this.starting?.toSpliced(this.starting.indexOf(path), 1);
      this.startChild(path, start);
    });
  }

  /**
   * Whether an activity has named its next child and that child has not started. Kept only for activities that clean up
   * on cancellation.
   */
  isStarting(path: string): boolean {
    return this.starting?.includes(path) ?? false;
  }

  private startChild(path: string, start: Start): void {
    if (this.activity(path)?.status !== 'Executing') return;
    const child = childPath(path, start);
    if (this.stopped?.has(path)) return this.rules.notifyParent(this, child, path, { result: 'Canceled' });
    if (this.hasRun(path, child)) return this.apply(path, { raise: ranTwice(path, this.node(path).activity, this.node(child).name) });
    this.execute(child);
  }

  /** Whether a custom activity has already run this child. Without `reruns`, a second run would reuse the keys of the first. */
  private hasRun(path: string, child: string): boolean {
    const node = this.node(path);
    if (!node.activity.includes(':') || this.behavior(path).repeats || runsAgain(node)) return false;
    const { ran = [] } = this.activity(path) ?? {};
    const { name } = this.node(child);
    if (ran.includes(name)) return true;
    this.patch(path, { ran: [...ran, name] });
    return false;
  }

  isCleaningUp(path: string): boolean {
    return this.activity(path)?.cleaning === true;
  }

  /** Starts the next child that cleans up. Returns false if none is left. */
  cleanUp(path: string): boolean {
    const { cleanUp: queue = [], cleaning, ...activity } = this.activity(path) ?? { status: 'Canceling' as const };
    const [start, ...cleanUp] = queue;
    if (start === undefined) {
      if (cleaning) this.put(path, activity);
      return false;
    }
    if (!cleaning) this.fact({ type: 'CleanUpStarted', path });
    this.patch(path, { cleanUp, cleaning: true });
    const child = childPath(path, start);
    this.replaceState(doneNoMore(this.program, this.state, child));
    this.execute(child);
    return true;
  }

  /** Skips children that were about to start, because the activity cancels its children and continues itself. */
  stop(path: string): void {
    this.stopped = new Set([...(this.stopped ?? []), path]);
  }

  private isToWait(path: string, fault: Fault): boolean {
    return !isHandled(this, path, fault, true) && !isUsedUp(this, path, fault);
  }

  private failForNow(path: string, { state, raise }: Next<unknown>): void {
    this.fact({ type: 'AttemptFailed', path, attemptId: attemptIdOf(this.local(path) as StepState), fault: raise as Fault });
    this.setLocal(path, state);
  }

  private requestAttempt(path: string, { input, ...attempt }: Attempt): void {
    this.sendRequest(path, { ...attempt, epoch: this.event.epoch }, input);
  }

  private requestAgain(path: string): void {
    const local = this.local(path) as StepState;
    const input = inputOf(this.program, this.subject, this.state, path);
    this.sendRequest(path, local, input.ok ? input.value : null);
  }

  private sendRequest(
    path: string,
    attempt: Pick<StepState, 'generation' | 'attempt' | 'epoch' | 'completeBy' | 'mode' | 'newKey'>,
    input: Json,
  ): void {
    const node = this.node(path);
    if (!isRemote(node)) throw new Error(`${path} sends a request, but only a step or a call can.`);
    this.commands.push(requestCommand(this.subject.orderId, path, node, attempt, input));
    this.fact({ type: 'StepRequested', path, attemptId: attemptIdOf(attempt), completeBy: attempt.completeBy });
  }

  /** Closes an activity: removes it from the state and notifies its parent. */
  close(path: string, closing: Closing): void {
    const parent = this.parentFor(path);
    const node = this.node(path);
    const local = this.local(path);
    const attemptId = isRemote(node) && local !== undefined ? attemptIdOf(local as StepState) : undefined;
    this.remove(path);
    this.replaceState(withOutput(this.program, this.state, path, closing));
    this.fact(closedFact(path, closing, attemptId));
    if (runsAgain(node)) this.replaceState(withoutMemo(this.program, this.state, path));
    this.replaceState(withoutReadOutputs(this.program, this.state, path));
    this.rules.notifyParent(this, path, parent, closing);
  }

  /** Closes an activity and starts it again with its present input. Its parent is not notified. */
  restart(path: string): void {
    const attemptId = attemptIdOf(this.local(path) as StepState);
    this.remove(path);
    this.fact({ type: 'ActivityClosed', path, result: 'Canceled', attemptId });
    this.execute(path);
  }

  blockFor(path: string): void {
    this.blocking = [...(this.blocking ?? []), path];
  }

  /** Returns the first activity that blocks the order and was not canceled meanwhile. */
  blockingPath(): string | undefined {
    return this.blocking?.find((path) => this.activity(path)?.awaitsPerson);
  }

  continues(): boolean {
    return this.state.phase === 'running' && (this.continuesWhileBlocked || this.blockingPath() === undefined);
  }

  block(path: string, fault: Fault): void {
    this.set({ phase: 'blocked', blocked: { path, fault, at: this.event.at } });
    this.fact({ type: 'OrderBlocked', path, fault });
  }

  unblock(path: string, completeWithinSeconds?: number): void {
    const { blocked: _, ...state } = this.state;
    const endBy = completeWithinSeconds === undefined ? {} : { endBy: this.event.at + completeWithinSeconds * 1000 };
    this.state = { ...state, phase: 'running', ...endBy };
    const { awaitsPerson, fault: _fault, ...activity } = this.activity(path) ?? { status: 'Executing' as const };
    if (awaitsPerson) this.put(path, { ...activity, status: 'Executing' });
    this.fact({ type: 'OrderUnblocked', path });
  }

  record(path: string, reply: StepReply): void {
    this.patch(path, { reply });
    this.fact({ type: 'ReplyRecorded', path, attemptId: attemptIdOf(this.local(path) as StepState), status: reply.status });
  }

  end(outcome: Outcome): void {
    const { blocked: _, undo, pagedUndo, memos: __, ending, signals: ___, ...state } = this.state;
    // The caller may compensate this order later.
    const kept = state.called && outcome === 'completed' ? { ...(undo ? { undo } : {}), ...(pagedUndo ? { pagedUndo } : {}) } : {};
    const failure = ending?.fault ? { failure: ending.fault } : {};
    this.state = { ...state, ...kept, ...failure, phase: 'closed', activities: {}, outcome };
    this.copied = true;
    this.childIndex = undefined;
    this.queue.length = 0;
  }

  /**
   * Requests a wake-up for an activity's own time. The supervisor finds the deadlines of steps: one message for each
   * undo would cost more than the seconds it saves.
   */
  wakeLater(path: string): void {
    const activity = this.activity(path);
    if (activity?.status !== 'Executing' || isRemote(this.node(path))) return;
    const at = activity && this.behavior(path).wakeAt?.(activity.local);
    if (at !== undefined) this.commands.push({ type: 'wake', at });
  }

  /** Copies the activities at the first change. The given state stays unchanged. */
  private writable(): { [path: string]: ActivityState } {
    if (!this.copied) {
      this.state = { ...this.state, activities: { ...this.state.activities } };
      this.copied = true;
    }
    return this.state.activities as { [path: string]: ActivityState };
  }
}

const withoutReply = ({ reply: _, ...activity }: ActivityState): ActivityState => activity;
