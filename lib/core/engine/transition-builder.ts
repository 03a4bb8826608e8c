import { behaviorOf, runsAgain } from '#core/activities/index';
import type { StepState } from '#core/activities/step';
import { askCommand, type Command } from '#core/data/command';
import type { Event, StepReply } from '#core/data/event';
import { type Fault, ranTwice } from '#core/data/fault';
import { askingOf } from '#core/data/ids';
import { type CoreFact, closedFact } from '#core/data/journal';
import { type Json, utf8Bytes } from '#core/data/json';
import type { ActivityState, Outcome, State } from '#core/data/state';
import { type Activity, asks, limits } from '#core/definition/definition';
import { inputOf, nodeAt, type Program, parentOf } from '#core/definition/program';
import { type Asking, type Behavior, type Closing, type Context, childPath, type Next, type Start } from './behavior.ts';
import { ActivityContext } from './context.ts';
import { isTaken, isUsedUp } from './fault-routing.ts';
import { doneNoMore, restarted, variablesOf, withOutput, withoutKnown, withoutReadOutputs, withoutSignal } from './memory.ts';
import { Waiters } from './parents.ts';
import type { Handed, Room, Subject, Transition } from './transition.ts';
import type { UndoPages } from './undo-pages.ts';
import { numberedBytes, Sizes } from './value-sizes.ts';

export type { Handed, Subject, Transition } from './transition.ts';

/** How activities end is decided elsewhere (`winding-up.ts`), by what knows all of it. */
interface Rules {
  wind(draft: Draft, path: string, next: Next<unknown>): void;
  closed(draft: Draft, path: string, waiter: string | undefined, closing: Closing): void;
  hold(draft: Draft, path: string, question: Fault): void;
  refused(draft: Draft, path: string, next: Next<unknown>): Next<unknown> | undefined;
}

/**
 * One transition in the making: it keeps the activities' states and carries out the verbs that behaviors answer with.
 * What winds activities up is in `winding-up.ts`, what undoes their work in `undoing.ts`: both change a state through this.
 */
export class Draft {
  readonly program: Program;
  readonly subject: Subject;
  readonly event: Event;
  state: State;
  readonly commands: Command[] = [];
  private readonly facts: CoreFact[] = [];
  private readonly todo: (() => void)[] = [];
  private starting: readonly string[] | undefined;
  private stopped: ReadonlySet<string> | undefined;
  /** Activities that want the order held: what comes in the same instant may still cancel them (see `advance`). */
  private waiting: readonly string[] | undefined;
  /** What waits for a person does not keep the others from going on. */
  goesOnRegardless = false;
  private copied = false;
  private begun = 0;
  private needs: number | undefined;
  private waiters: Waiters | undefined;
  private readonly rules: Rules;
  private readonly sizes = new Sizes();
  readonly pages: UndoPages;
  readonly room: Room | undefined;
  /** Bytes of what the journal says of it so far, where room is short. */
  said = 0;

  constructor(program: Program, subject: Subject, state: State, event: Event, rules: Rules, { pages = new Map(), room }: Handed) {
    this.rules = rules;
    this.pages = pages;
    this.room = room;
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

  own(path: string): unknown {
    return this.state.activities[path]?.own;
  }

  /** Who is told when an activity closes. */
  waiterFor(path: string): string | undefined {
    return this.activity(path)?.runner ?? parentOf(path);
  }

  /** What is alive directly inside an activity, and what it had undone. */
  children(path: string): readonly string[] {
    return this.waitedFor().childrenOf(path);
  }

  hasChildren(path: string): boolean {
    return this.waitedFor().hasChildren(path);
  }

  private waitedFor(): Waiters {
    this.waiters ??= new Waiters(Object.keys(this.state.activities), (path) => this.waiterFor(path));
    return this.waiters;
  }

  /** The same state with more or less of what it remembers: see `memory.ts`. */
  remember(state: State): void {
    this.state = state;
  }

  set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
  }

  put(path: string, activity: ActivityState): void {
    const isNew = this.waiters !== undefined && this.activity(path) === undefined;
    this.writable()[path] = activity;
    if (isNew) this.waiters?.add(path, this.waiterFor(path));
  }

  patch(path: string, change: Partial<ActivityState>): void {
    const activity = this.activity(path);
    if (activity) this.put(path, { ...activity, ...change });
  }

  /** It has a fault, which is on its way up; or which waits, because nobody takes it. */
  faulting(path: string, fault: Fault, waits = false): void {
    const { waits: _, ...activity } = this.activity(path) ?? { status: 'Faulting' as const };
    if (this.activity(path)) this.put(path, { ...activity, status: 'Faulting', fault, ...(waits ? { waits: true } : {}) });
  }

  canceling(path: string): void {
    const { waits: _, ...activity } = this.activity(path) ?? { status: 'Canceling' as const };
    if (this.activity(path)) this.put(path, { ...activity, status: 'Canceling' });
  }

  /** Its new own state; where it is in its life stays as it was. */
  keep(path: string, own: unknown): void {
    const activity = this.activity(path) ?? { status: 'Executing' as const };
    const answered = activity.reply ? withoutReply(activity) : activity;
    this.put(path, own === undefined ? answered : { ...answered, own });
  }

  remove(path: string): void {
    this.waiters?.remove(path, this.waiterFor(path));
    delete this.writable()[path];
  }

  fact(fact: CoreFact): void {
    this.facts.push(fact);
    if (this.room) this.said += utf8Bytes(fact as unknown as Json) + numberedBytes;
  }

  later(job: () => void): void {
    this.todo.push(job);
  }

  /** A work list instead of recursion: ten thousand activities that close at once must not overflow the stack. */
  drain(): void {
    for (let job = this.todo.shift(); job; job = this.todo.shift()) if (this.state.phase !== 'closed' && this.needs === undefined) job();
  }

  /** Bytes of the state so far, as JSON. */
  bytes(): number {
    return this.sizes.ofState(this.state);
  }

  get portion(): number {
    return Math.max(0, limits.portionMax - this.begun);
  }

  /** A page of the undo list: it is asked for, and then the event is applied anew. */
  need(page: number): void {
    this.needs ??= page;
  }

  finish(): Transition {
    const { state, commands, facts, needs } = this;
    return { state, commands, facts, ...(needs === undefined ? {} : { needs }) };
  }

  /** `reader`: where its expressions are evaluated, if not there. */
  context(path: string, reader?: string): Context {
    return new ActivityContext(this, path, reader);
  }

  /** The body of the nearest handler that is at work around an activity. */
  handlerAround(at: string): string | undefined {
    for (let path = at, around = parentOf(path); around !== undefined; path = around, around = parentOf(path))
      if (this.activity(around)?.handling) return path;
    return undefined;
  }

  /** Starts an activity; one that says no more than that it began says so in the journal. */
  execute(path: string): void {
    const node = this.node(path);
    const vars = runsAgain(node) ? variablesOf(this.state, node) : undefined;
    const { undoAside } = this.state;
    const above = undoAside && this.behavior(path).children(node).length > 0 ? { above: undoAside.top } : {};
    this.put(path, { status: 'Executing', ...(vars ? { vars } : {}), ...above });
    const next = behaviorOf(node.activity).execute(node, this.context(path));
    if (!next.ask) this.fact({ type: 'ActivityStarted', path });
    this.apply(path, next);
  }

  /** Carries out what an activity wants. The order of these lines is the order in which things happen. */
  apply(path: string, wanted: Next<unknown> | undefined): void {
    if (wanted === undefined) return;
    const next = this.rules.refused(this, path, wanted) ?? wanted;
    if (next.raise && next.unlessNobodyTakesIt && this.isToWait(path, { ...next.raise, source: path })) return this.failForNow(path, next);
    if (next.state !== undefined) this.keep(path, next.state);
    if (next.takeSignal) this.remember(withoutSignal(this.state, next.takeSignal));
    if (next.holds) this.rules.hold(this, path, next.holds);
    if (next.assign) this.set({ vars: { ...this.state.vars, ...next.assign } });
    if (next.undoFailed) this.fact({ type: 'UndoFailed', path, asking: askingOf(this.own(path) as StepState), ...next.undoFailed });
    if (next.ask) this.ask(path, next.ask);
    if (next.askAgain) this.askAgain(path);
    if (next.fresh) this.remember(restarted(this.program, this.state, path));
    for (const start of next.run ?? []) this.startLater(path, start);
    this.begun += next.run?.length ?? 0;
    this.rules.wind(this, path, next);
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

  /** It has said what is to run next, and that has not begun. Asked only of what cleans up when it is canceled. */
  isStarting(path: string): boolean {
    return this.starting?.includes(path) ?? false;
  }

  private startChild(path: string, start: Start): void {
    if (this.activity(path)?.status !== 'Executing') return;
    const child = childPath(path, start);
    if (this.stopped?.has(path)) return this.rules.closed(this, child, path, { result: 'Canceled' });
    if (this.hasRun(path, child)) return this.apply(path, { raise: ranTwice(path, this.node(path).activity, this.node(child).name) });
    this.execute(child);
  }

  /** Of an activity of an app's own that says nothing of runs: its second run of a child would reuse the first one's keys. */
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

  /** The next child that cleans up; false once there is none left. */
  cleanUp(path: string): boolean {
    const { cleanUp: todo = [], cleaning, ...activity } = this.activity(path) ?? { status: 'Canceling' as const };
    const [start, ...cleanUp] = todo;
    if (start === undefined) {
      if (cleaning) this.put(path, activity);
      return false;
    }
    if (!cleaning) this.fact({ type: 'CleanUpStarted', path });
    this.patch(path, { cleanUp, cleaning: true });
    const child = childPath(path, start);
    this.remember(doneNoMore(this.program, this.state, child));
    this.execute(child);
    return true;
  }

  /** Cancels what runs inside an activity that goes on itself; what was about to begin does not. */
  stop(path: string): void {
    this.stopped = new Set([...(this.stopped ?? []), path]);
  }

  private isToWait(path: string, fault: Fault): boolean {
    return !isTaken(this, path, fault, true) && !isUsedUp(this, path, fault);
  }

  private failForNow(path: string, { state, raise }: Next<unknown>): void {
    this.fact({ type: 'AttemptFailed', path, asking: askingOf(this.own(path) as StepState), fault: raise as Fault });
    this.keep(path, state);
  }

  private ask(path: string, { input, ...asking }: Asking): void {
    this.request(path, { ...asking, epoch: this.event.epoch }, input);
  }

  private askAgain(path: string): void {
    const own = this.own(path) as StepState;
    const input = inputOf(this.program, this.subject, this.state, path);
    this.request(path, own, input.ok ? input.value : null);
  }

  private request(
    path: string,
    asked: Pick<StepState, 'generation' | 'attempt' | 'epoch' | 'completeBy' | 'mode' | 'newKey'>,
    input: Json,
  ): void {
    const node = this.node(path);
    if (!asks(node)) throw new Error(`${path} asks an agent, but only a step has one.`);
    this.commands.push(askCommand(this.subject.orderId, path, node, asked, input));
    this.fact({ type: 'StepAsked', path, asking: askingOf(asked), completeBy: asked.completeBy });
  }

  /** The activity is over: it is taken out of the state, and whoever waits for it is told. */
  close(path: string, closing: Closing): void {
    const waiter = this.waiterFor(path);
    const node = this.node(path);
    const own = this.own(path);
    const asking = asks(node) && own !== undefined ? askingOf(own as StepState) : undefined;
    this.remove(path);
    this.remember(withOutput(this.program, this.state, path, closing));
    this.fact(closedFact(path, closing, asking));
    if (runsAgain(node)) this.remember(withoutKnown(this.program, this.state, path));
    this.remember(withoutReadOutputs(this.program, this.state, path));
    this.rules.closed(this, path, waiter, closing);
  }

  /** It is over with what it was begun with, and begins once more; nobody is told that it closed. */
  restart(path: string): void {
    const asking = askingOf(this.own(path) as StepState);
    this.remove(path);
    this.fact({ type: 'ActivityClosed', path, result: 'Canceled', asking });
    this.execute(path);
  }

  holdFor(path: string): void {
    this.waiting = [...(this.waiting ?? []), path];
  }

  /** The first that wants the order held, and was not canceled meanwhile. */
  waitsFor(): string | undefined {
    return this.waiting?.find((path) => this.activity(path)?.waits);
  }

  goesOn(): boolean {
    return this.state.phase === 'running' && (this.goesOnRegardless || this.waitsFor() === undefined);
  }

  hold(path: string, fault: Fault): void {
    this.set({ phase: 'held', held: { path, fault, at: this.event.at } });
    this.fact({ type: 'OrderHeld', path, fault });
  }

  release(path: string, completeWithinSeconds?: number): void {
    const { held: _, ...state } = this.state;
    const endBy = completeWithinSeconds === undefined ? {} : { endBy: this.event.at + completeWithinSeconds * 1000 };
    this.state = { ...state, phase: 'running', ...endBy };
    const { waits, fault: _fault, ...activity } = this.activity(path) ?? { status: 'Executing' as const };
    if (waits) this.put(path, { ...activity, status: 'Executing' });
    this.fact({ type: 'OrderReleased', path });
  }

  record(path: string, reply: StepReply): void {
    this.patch(path, { reply });
    this.fact({ type: 'ReplyRecorded', path, asking: askingOf(this.own(path) as StepState), status: reply.status });
  }

  end(outcome: Outcome): void {
    const { held: _, undo, undoAside, known: __, ending, signals: ___, ...state } = this.state;
    // Whoever called this order may undo it later.
    const kept = state.called && outcome === 'completed' ? { ...(undo ? { undo } : {}), ...(undoAside ? { undoAside } : {}) } : {};
    const failure = ending?.fault ? { failure: ending.fault } : {};
    this.state = { ...state, ...kept, ...failure, phase: 'closed', activities: {}, outcome };
    this.copied = true;
    this.waiters = undefined;
    this.todo.length = 0;
  }

  /** A step's times are the supervisor's to find: a message of its own for each undo would cost more than the seconds it saves. */
  wakeLater(path: string): void {
    const activity = this.activity(path);
    if (activity?.status !== 'Executing' || asks(this.node(path))) return;
    const at = activity && this.behavior(path).wakeAt?.(activity.own);
    if (at !== undefined) this.commands.push({ type: 'wake', at });
  }

  /** The state that came in stays as it was: its activities are copied at the first change. */
  private writable(): { [path: string]: ActivityState } {
    if (!this.copied) {
      this.state = { ...this.state, activities: { ...this.state.activities } };
      this.copied = true;
    }
    return this.state.activities as { [path: string]: ActivityState };
  }
}

const withoutReply = ({ reply: _, ...activity }: ActivityState): ActivityState => activity;
