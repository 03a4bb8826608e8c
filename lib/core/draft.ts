import { behaviourOf } from './activities/index.ts';
import type { Retry } from './activities/retry.ts';
import type { StepState } from './activities/step.ts';
import type { Asking, Behaviour, Closing, Context, Known, Next, Start } from './behaviour.ts';
import { askCommand, type Command } from './command.ts';
import { type Activity, asks, rootPath } from './definition.ts';
import type { Event, StepReply } from './event.ts';
import { type Fault, isKindOf } from './fault.ts';
import { askingOf } from './identity.ts';
import type { CoreFact } from './journal.ts';
import type { Json } from './json.ts';
import { assignedIn, definitionPath, fill, inputOf, nodeAt, type Program, parentOf, relocated, scopeOf } from './program.ts';
import type { ActivityState, KeptSignal, Outcome, State, Variables } from './state.ts';

/** What an instance is about. It never changes. */
export interface Subject {
  readonly orderId: string;
  readonly order: Json;
}

/** What an event leads to. Save the state first; only then carry out the commands. */
export interface Transition {
  readonly state: State;
  readonly commands: readonly Command[];
  /** What the journal says of it. */
  readonly facts: readonly CoreFact[];
}

/** How activities end is decided elsewhere (`winding-up.ts`), by what knows all of it. */
interface Rules {
  wind(draft: Draft, path: string, next: Next<unknown>): void;
  closed(draft: Draft, path: string, waiter: string | undefined, closing: Closing): void;
  hold(draft: Draft, path: string, question: Fault): void;
}

/**
 * One transition in the making: it keeps the activities' states and carries out the verbs that behaviours answer with.
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
  private stopped: ReadonlySet<string> | undefined;
  private copied = false;
  private readonly rules: Rules;

  constructor(program: Program, subject: Subject, state: State, event: Event, rules: Rules) {
    this.rules = rules;
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

  behaviour(path: string): Behaviour {
    return behaviourOf(this.node(path).activity);
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
    return Object.keys(this.state.activities).filter((each) => each !== path && this.waiterFor(each) === path);
  }

  set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
  }

  put(path: string, activity: ActivityState): void {
    this.writable()[path] = activity;
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
    delete this.writable()[path];
  }

  fact(fact: CoreFact): void {
    this.facts.push(fact);
  }

  later(job: () => void): void {
    this.todo.push(job);
  }

  /** A work list instead of recursion: ten thousand activities that close at once must not overflow the stack. */
  drain(): void {
    for (let job = this.todo.shift(); job; job = this.todo.shift()) if (this.state.phase !== 'closed') job();
  }

  finish(): Transition {
    return { state: this.state, commands: this.commands, facts: this.facts };
  }

  context(path: string): Context {
    const { at, epoch } = this.event;
    const { stepMs, endBy, known } = this.state;
    return {
      at,
      epoch,
      stepMs,
      endBy,
      path,
      known: known?.[path],
      scopePath: (name) => this.scopePath(path, name),
      evaluate: (template) => fill(template, scopeOf(this.program, this.subject, this.state, path)),
      signalKept: (name) => this.state.signals?.find((signal) => signal.name === name),
      answer: this.event.type === 'resubmitted' ? this.event.answer : undefined,
    };
  }

  /** A composite by its name; or the one whose handler is at work around a path. */
  private scopePath(at: string, name: string | undefined): string {
    if (name !== undefined) {
      const [found] = [...this.program.nodes].filter(([, node]) => node.name === name);
      return found ? relocated(found[0], at) : rootPath;
    }
    const handler = this.handlerAround(at);
    return (handler === undefined ? undefined : parentOf(handler)) ?? rootPath;
  }

  /** The body of the nearest handler that is at work around an activity. */
  handlerAround(at: string): string | undefined {
    for (let path = at, around = parentOf(path); around !== undefined; path = around, around = parentOf(path))
      if (this.activity(around)?.handling) return path;
    return undefined;
  }

  /** Only a retry that is at work will run the step again. */
  known(path: string, known: Known): void {
    if (this.isRetried(path)) this.set({ known: { ...this.state.known, [path]: known } });
  }

  private isRetried(path: string): boolean {
    for (let at = parentOf(path); at !== undefined; at = parentOf(at))
      if (this.activity(at) && this.node(at).activity === 'retry') return true;
    return false;
  }

  /** Whether a fault of the activity at a path goes to somebody on its way up, so that it may unwind what is in between. */
  takes(path: string, fault: Fault): boolean {
    for (let at: string | undefined = path, from: string | undefined; at !== undefined; from = at, at = this.waiterFor(at)) {
      const activity = this.activity(at);
      if (!activity) continue;
      const unwinds = activity.status === 'Faulting' && !activity.handling && !activity.waits && from !== undefined;
      if (activity.status === 'Canceling' || unwinds) return true;
      if (from !== undefined && this.absorbs(at, fault)) return true;
      if (!activity.handling && this.handlerFor(at, fault)) return true;
    }
    return this.goesToCaller(fault);
  }

  /** An order that another one called ends with the faults that are for its caller, once all that it did is undone. */
  private goesToCaller(fault: Fault): boolean {
    const { toCaller = [] } = this.program.definition;
    return this.state.called === true && !this.state.ending && toCaller.some((type) => isKindOf(fault.type, type));
  }

  absorbs(path: string, fault: Fault): boolean {
    const activity = this.activity(path);
    if (activity?.status !== 'Executing') return false;
    return this.behaviour(path).absorbs?.(this.node(path), activity.own, fault) ?? false;
  }

  handlerFor(path: string, fault: Fault) {
    return this.node(path).faultHandlers?.find((handler) => isKindOf(fault.type, handler.fault));
  }

  /** Starts an activity; one that says no more than that it began says so in the journal. */
  execute(path: string): void {
    const node = this.node(path);
    const vars = node.activity === 'retry' ? this.varsOf(node) : undefined;
    this.put(path, { status: 'Executing', ...(vars ? { vars } : {}) });
    const next = behaviourOf(node.activity).execute(node, this.context(path));
    if (!next.ask) this.fact({ type: 'ActivityStarted', path });
    this.apply(path, next);
  }

  /** Carries out what an activity wants. The order of these lines is the order in which things happen. */
  apply(path: string, next: Next<unknown> | undefined): void {
    if (next === undefined) return;
    if (next.raise && next.unlessNobodyTakesIt && !this.takes(path, { ...next.raise, source: path })) return this.failForNow(path, next);
    if (next.state !== undefined) this.keep(path, next.state);
    if (next.takeSignal) this.dropSignal(next.takeSignal);
    if (next.holds) this.rules.hold(this, path, next.holds);
    if (next.assign) this.set({ vars: { ...this.state.vars, ...next.assign } });
    if (next.undoFailed) this.fact({ type: 'UndoFailed', path, asking: askingOf(this.own(path) as StepState), ...next.undoFailed });
    if (next.ask) this.ask(path, next.ask);
    if (next.askAgain) this.askAgain(path);
    if (next.fresh) this.restart(path);
    for (const start of next.run ?? []) this.later(() => this.startChild(path, start));
    this.rules.wind(this, path, next);
    if (next.state !== undefined && !next.undoNext) this.wakeLater(path);
  }

  private startChild(path: string, start: Start): void {
    if (this.activity(path)?.status !== 'Executing') return;
    const child = childPath(path, start);
    if (this.stopped?.has(path)) return this.rules.closed(this, child, path, { result: 'Canceled' });
    this.execute(child);
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
    this.patch(path, { cleanUp, cleaning: true });
    const child = childPath(path, start);
    this.doneNoMore(child);
    this.execute(child);
    return true;
  }

  /** Cancels what runs inside an activity that goes on itself; what was about to begin does not. */
  stop(path: string): void {
    this.stopped = new Set([...(this.stopped ?? []), path]);
  }

  private failForNow(path: string, { state, raise }: Next<unknown>): void {
    this.fact({ type: 'AttemptFailed', path, asking: askingOf(this.own(path) as StepState), fault: raise as Fault });
    this.keep(path, state);
  }

  /** Each run of a retry begins as the first did: with its variables, and without what an earlier one answered (WF). */
  private restart(path: string): void {
    const { vars } = this.activity(path) ?? {};
    const node = this.node(path);
    if (vars && node.activity === 'retry') {
      const assigned = new Set(assignedIn(node.do));
      const others = Object.entries(this.state.vars ?? {}).filter(([variable]) => !assigned.has(variable));
      this.set({ vars: Object.fromEntries([...others, ...Object.entries(vars)]) });
    }
    this.forgetOutputs(`${path}/`);
  }

  /** What a retry has to restore: no variable that is set elsewhere meanwhile. */
  private varsOf(retry: Retry): Variables | undefined {
    const assigned = assignedIn(retry.do);
    if (assigned.length === 0) return undefined;
    return Object.fromEntries(Object.entries(this.state.vars ?? {}).filter(([variable]) => assigned.includes(variable)));
  }

  private ask(path: string, { input, generation, attempt, completeBy }: Asking): void {
    this.request(path, { generation, attempt, epoch: this.event.epoch, completeBy }, input);
  }

  private askAgain(path: string): void {
    const own = this.own(path) as StepState;
    const input = inputOf(this.program, this.subject, this.state, path);
    this.request(path, own, input.ok ? input.value : null);
  }

  private request(path: string, asked: Pick<StepState, 'generation' | 'attempt' | 'epoch' | 'completeBy' | 'mode'>, input: Json): void {
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
    const output = closing.result === 'Succeeded' ? closing.output : undefined;
    this.keepOutput(path, output);
    const { result } = closing;
    this.fact({ type: 'ActivityClosed', path, result, ...(asking ? { asking } : {}), ...(output === undefined ? {} : { output }) });
    if (node.activity === 'retry') this.forget(path);
    this.dropOutputs(path);
    this.rules.closed(this, path, waiter, closing);
  }

  private keepOutput(path: string, output: Json | undefined): void {
    const isRead = this.program.readOutputs.get(path.slice(path.lastIndexOf('/') + 1)) === definitionPath(path);
    if (output !== undefined && isRead) this.set({ outputs: { ...this.state.outputs, [path]: output } });
  }

  /** Outputs whose last reader this was: in the journal they stay. */
  private dropOutputs(path: string): void {
    const over = this.program.lastRead.get(definitionPath(path));
    if (!over) return;
    const gone = new Set(over.map((each) => relocated(each, path)));
    const kept = Object.entries(this.state.outputs).filter(([each]) => !gone.has(each));
    if (kept.length < Object.keys(this.state.outputs).length) this.set({ outputs: Object.fromEntries(kept) });
  }

  /** What cleans up does so after every run, however often it did before. */
  private doneNoMore(path: string): void {
    for (const [each, known] of Object.entries(this.state.known ?? {}))
      if (known.outcome === 'done' && (each === path || each.startsWith(`${path}/`))) this.known(each, { ...known, outcome: 'undone' });
  }

  /** What was known of the steps of a retry that is over; another one around it may still need it. */
  private forget(path: string): void {
    if (!this.state.known || this.isRetried(path)) return;
    const { known, ...state } = this.state;
    const rest = Object.entries(known).filter(([each]) => !each.startsWith(`${path}/`));
    this.state = rest.length > 0 ? { ...state, known: Object.fromEntries(rest) } : state;
  }

  /** Nobody outside of a turn can read what its steps answered; nor can the next run of a retry. */
  forgetOutputs(within: string): void {
    const kept = Object.entries(this.state.outputs).filter(([each]) => !each.startsWith(within));
    if (kept.length < Object.keys(this.state.outputs).length) this.set({ outputs: Object.fromEntries(kept) });
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

  keepSignal(signal: KeptSignal): void {
    this.set({ signals: [...(this.state.signals ?? []), signal] });
  }

  private dropSignal(signal: KeptSignal): void {
    const { signals = [], ...state } = this.state;
    const left = signals.filter((each) => each !== signal);
    this.state = left.length > 0 ? { ...state, signals: left } : state;
  }

  record(path: string, reply: StepReply): void {
    this.patch(path, { reply });
    this.fact({ type: 'ReplyRecorded', path, asking: askingOf(this.own(path) as StepState), status: reply.status });
  }

  end(outcome: Outcome): void {
    const { held: _, undo, known: __, ending, signals: ___, ...state } = this.state;
    // Whoever called this order may undo it later.
    const kept = state.called && outcome === 'completed' && undo ? { undo } : {};
    const failure = ending?.fault ? { failure: ending.fault } : {};
    this.state = { ...state, ...kept, ...failure, phase: 'closed', activities: {}, outcome };
    this.copied = true;
    this.todo.length = 0;
  }

  /** A step's times are the supervisor's to find: a message of its own for each undo would cost more than the seconds it saves. */
  private wakeLater(path: string): void {
    const activity = this.activity(path);
    if (activity && asks(this.node(path))) return;
    const at = activity && this.behaviour(path).wakeAt?.(activity.own);
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

const childPath = (path: string, start: Start): string =>
  typeof start === 'string' ? `${path}/${start}` : `${path}[${start.index}]/${start.name}`;

const withoutReply = ({ reply: _, ...activity }: ActivityState): ActivityState => activity;
