import { behaviourOf } from './activities/index.ts';
import type { StepState } from './activities/step.ts';
import type { Closing, Context, Next } from './behaviour.ts';
import { askCommand, type Command } from './command.ts';
import { rootPath } from './definition.ts';
import type { Event, StepReply } from './event.ts';
import { engineFault, engineFaults, type Fault } from './fault.ts';
import { askingOf, requestIdOf, stepOfRequest } from './identity.ts';
import type { CoreFact } from './journal.ts';
import type { Json } from './json.ts';
import { fill, nodeAt, type Program, parentOf, scopeOf } from './program.ts';
import type { ActivityState, State } from './state.ts';

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

/**
 * The whole engine: what an event does to an instance. Pure: no clock, no chance, no I/O, and no exception for a fault.
 * An event that is a repetition, or that comes too late, leaves the very same state and asks for nothing.
 */
export function advance(program: Program, subject: Subject, state: State, event: Event): Transition {
  const draft = new Draft(program, subject, state, event);
  happen(draft, event);
  return draft.finish();
}

function happen(draft: Draft, event: Event): void {
  const { state } = draft;
  switch (event.type) {
    case 'started':
      return state.phase === 'initialized' ? draft.start(event.stepMs) : undefined;
    case 'replied':
      return reply(draft, event);
    case 'heartbeat':
      return extend(draft, event);
    case 'woken':
      return state.phase === 'running' ? wakeAll(draft) : undefined;
    case 'expired':
      return state.phase === 'running' ? repeatWhere(draft, (asked) => asked.completeBy <= event.at) : undefined;
    case 'reclaimed':
      return state.phase === 'running' ? reclaim(draft) : undefined;
    case 'exhausted':
      return state.phase === 'running' ? exhaust(draft, event) : undefined;
    case 'resubmitted':
      return state.held ? resubmit(draft, state.held.path, event.completeWithinSeconds) : undefined;
  }
}

function reply(draft: Draft, event: Extract<Event, { type: 'replied' }>): void {
  const path = askedPath(draft, event.requestId);
  if (path === undefined || event.sentAt > (draft.own(path) as StepState).completeBy) return;

  if (draft.state.phase === 'held') return draft.record(path, event.reply);
  draft.answer(path, event.reply);
}

/** The path whose outstanding asking has this id. Any other asking of the step, older or of another epoch, is void. */
function askedPath(draft: Draft, requestId: string): string | undefined {
  const path = stepOfRequest(draft.subject.orderId, requestId);
  const activity = path === undefined ? undefined : draft.state.activities[path];
  if (path === undefined || !activity || activity.reply) return undefined;
  const own = activity.own as StepState | undefined;
  const outstanding = own?.phase === 'asked' && own.epoch === draft.event.epoch;
  return outstanding && requestIdOf(draft.subject.orderId, path, own) === requestId ? path : undefined;
}

function extend(draft: Draft, event: Extract<Event, { type: 'heartbeat' }>): void {
  const path = askedPath(draft, event.requestId);
  if (path === undefined || draft.state.phase !== 'running') return;
  const step = nodeAt(draft.program, path);
  const own = draft.own(path) as StepState;
  const longestMs = step.activity === 'step' ? (step.longestSeconds ?? 0) * 1000 : 0;
  const completeBy = Math.min(event.completeBy, own.since + longestMs, draft.state.endBy ?? Infinity);
  if (completeBy <= own.completeBy) return;

  draft.keep(path, { ...own, completeBy });
  draft.fact({ type: 'StepExtended', path, asking: askingOf(own), completeBy });
}

function wakeAll(draft: Draft): void {
  for (const path of Object.keys(draft.state.activities)) draft.wake(path);
}

function repeatWhere(draft: Draft, which: (asked: StepState) => boolean): void {
  for (const [path, activity] of Object.entries(draft.state.activities)) {
    if (nodeAt(draft.program, path).activity !== 'step' || activity.reply) continue;
    if (draft.state.phase === 'running' && which(activity.own as StepState)) draft.repeat(path);
  }
}

/** A new claim takes up every step that the former one left open, under the same idempotency keys. */
function reclaim(draft: Draft): void {
  repeatWhere(draft, (asked) => asked.epoch !== draft.event.epoch);
  if (draft.state.phase === 'running') wakeAll(draft);
}

function exhaust(draft: Draft, { path, fault }: Extract<Event, { type: 'exhausted' }>): void {
  const overdue =
    path !== undefined && draft.state.activities[path]
      ? path
      : Object.keys(draft.state.activities).find((each) => nodeAt(draft.program, each).activity === 'step');
  draft.raise(
    overdue ?? rootPath,
    fault ?? engineFault(engineFaults.deadlineExceeded, 'No answer came in time, however often it was asked.', { outcomeUnknown: true }),
  );
}

/** The failed activity first, unless its answer came after all; then what waited meanwhile, and what has expired. */
function resubmit(draft: Draft, path: string, completeWithinSeconds: number | undefined): void {
  const { at, epoch } = draft.event;
  const late = draft.state.activities[path]?.reply;
  draft.release(path, completeWithinSeconds);
  if (late?.status === 'succeeded') draft.answer(path, late);
  else draft.repeat(path, late);

  for (const [each, { reply: recorded }] of Object.entries(draft.state.activities)) {
    if (recorded && draft.state.phase === 'running') draft.answer(each, recorded);
  }
  repeatWhere(draft, (asked) => asked.phase === 'asked' && (asked.completeBy <= at || asked.epoch !== epoch));
  if (draft.state.phase === 'running') wakeAll(draft);
  draft.holdForNextFault();
}

/** One transition in the making: behaviours decide, this keeps their states, and carries closings to the parents. */
class Draft {
  readonly program: Program;
  readonly subject: Subject;
  readonly event: Event;
  state: State;
  private readonly commands: Command[] = [];
  private readonly facts: CoreFact[] = [];
  private readonly todo: (() => void)[] = [];
  private copied = false;

  constructor(program: Program, subject: Subject, state: State, event: Event) {
    this.program = program;
    this.subject = subject;
    this.state = state;
    this.event = event;
  }

  start(stepMs: number): void {
    const { completeWithinSeconds } = this.program.definition;
    this.set({ phase: 'running', stepMs, ...(completeWithinSeconds ? { endBy: this.event.at + completeWithinSeconds * 1000 } : {}) });
    this.execute(rootPath);
    this.drain();
  }

  answer(path: string, reply: StepReply): void {
    const activity = this.state.activities[path];
    if (!activity) return;
    if (activity.reply) this.keep(path, activity.own);
    const node = nodeAt(this.program, path);
    this.apply(path, behaviourOf(node.activity).replied?.(node, activity.own, reply, this.context()));
    this.drain();
  }

  wake(path: string): void {
    const activity = this.state.activities[path];
    if (!activity || this.state.phase !== 'running') return;
    const node = nodeAt(this.program, path);
    this.apply(path, behaviourOf(node.activity).woken?.(node, activity.own, this.context()));
    this.drain();
  }

  /** `late` is what came after all while the order was held; a definite "no" makes the next asking a new effect. */
  repeat(path: string, late?: StepReply): void {
    const node = nodeAt(this.program, path);
    const behaviour = behaviourOf(node.activity);
    const refused = late?.status === 'rejected' || (late?.status === 'failed' && late.fault.permanent && !late.fault.outcomeUnknown);
    const own = refused ? { ...(this.own(path) as StepState), phase: 'refused' } : this.own(path);
    this.apply(path, own === undefined ? behaviour.execute(node, this.context()) : behaviour.repeat?.(node, own, this.context()));
    this.drain();
  }

  /** No scope takes the fault: the order is held as it is, so that a person can decide how it goes on. */
  raise(path: string, fault: Fault): void {
    const raised = { ...fault, source: path };
    this.put(path, { ...this.state.activities[path], status: 'Faulting', fault: raised });
    if (this.state.phase === 'running') this.hold(path, raised);
  }

  /** Two branches may fault; the second waits until a person has dealt with the first. */
  holdForNextFault(): void {
    if (this.state.phase !== 'running') return;
    for (const [path, { fault }] of Object.entries(this.state.activities)) if (fault) return this.hold(path, fault);
  }

  private hold(path: string, fault: Fault): void {
    this.set({ phase: 'held', held: { path, fault, at: this.event.at } });
    this.fact({ type: 'OrderHeld', path, fault });
  }

  release(path: string, completeWithinSeconds: number | undefined): void {
    const { held: _, ...state } = this.state;
    const endBy = completeWithinSeconds === undefined ? {} : { endBy: this.event.at + completeWithinSeconds * 1000 };
    this.state = { ...state, phase: 'running', ...endBy };
    if (this.state.activities[path]) this.keep(path, this.own(path));
    this.fact({ type: 'OrderReleased', path });
  }

  record(path: string, reply: StepReply): void {
    const activity = this.state.activities[path];
    if (!activity) return;
    this.put(path, { ...activity, reply });
    this.fact({ type: 'ReplyRecorded', path, asking: askingOf(activity.own as StepState), status: reply.status });
  }

  own(path: string): unknown {
    return this.state.activities[path]?.own;
  }

  keep(path: string, own: unknown): void {
    this.put(path, own === undefined ? { status: 'Executing' } : { status: 'Executing', own });
  }

  fact(fact: CoreFact): void {
    this.facts.push(fact);
  }

  finish(): Transition {
    return { state: this.state, commands: this.commands, facts: this.facts };
  }

  private execute(path: string): void {
    const node = nodeAt(this.program, path);
    const next = behaviourOf(node.activity).execute(node, this.context());
    if (!next.ask) this.fact({ type: 'ActivityStarted', path });
    this.apply(path, next);
  }

  private apply(path: string, next: Next<unknown> | undefined): void {
    if (next === undefined) return;
    if (next.failedForNow)
      this.fact({ type: 'AttemptFailed', path, asking: askingOf(this.own(path) as StepState), fault: next.failedForNow });
    if (next.state !== undefined) this.keep(path, next.state);
    if (next.ask) this.ask(path, next.ask);
    for (const name of next.run ?? []) this.todo.push(() => this.execute(`${path}/${name}`));
    if (next.raise) this.raise(path, next.raise);
    if (next.close) this.close(path, next.close);
    if (next.state !== undefined) this.wakeLater(path, next.state);
  }

  private ask(path: string, { input, ...asking }: NonNullable<Next<unknown>['ask']>): void {
    const node = nodeAt(this.program, path);
    if (node.activity !== 'step') throw new Error(`${path} asks an agent, but only a step has one.`);
    const asked = { ...asking, epoch: this.event.epoch };
    this.commands.push(askCommand(this.subject.orderId, path, node, asked, input));
    this.fact({ type: 'StepAsked', path, asking: askingOf(asked), completeBy: asked.completeBy });
  }

  private close(path: string, closing: Closing): void {
    const asking =
      nodeAt(this.program, path).activity === 'step' && this.own(path) !== undefined ? askingOf(this.own(path) as StepState) : undefined;
    this.remove(path);
    const output = closing.result === 'Succeeded' ? closing.output : undefined;
    if (output !== undefined && this.program.readOutputs.get(path.slice(path.lastIndexOf('/') + 1)) === path) {
      this.set({ outputs: { ...this.state.outputs, [path]: output } });
    }
    this.fact({
      type: 'ActivityClosed',
      path,
      result: closing.result,
      ...(asking ? { asking } : {}),
      ...(output === undefined ? {} : { output }),
    });

    const parent = parentOf(path);
    if (parent === undefined) this.set({ phase: 'closed' });
    else this.todo.push(() => this.childClosed(parent, closing));
  }

  private childClosed(parent: string, closing: Closing): void {
    const activity = this.state.activities[parent];
    if (!activity) return;
    const node = nodeAt(this.program, parent);
    this.apply(parent, behaviourOf(node.activity).childClosed?.(node, activity.own, closing, this.context()));
  }

  /** A work list instead of recursion: ten thousand activities that close at once must not overflow the stack. */
  private drain(): void {
    for (let job = this.todo.shift(); job; job = this.todo.shift()) job();
  }

  private wakeLater(path: string, own: unknown): void {
    const at = behaviourOf(nodeAt(this.program, path).activity).wakeAt?.(own);
    if (at !== undefined) this.commands.push({ type: 'wake', at });
  }

  private context(): Context {
    const { at, epoch } = this.event;
    const { stepMs, endBy } = this.state;
    return { at, epoch, stepMs, endBy, evaluate: (template) => fill(template, scopeOf(this.program, this.subject, this.state)) };
  }

  private set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
  }

  private put(path: string, activity: ActivityState): void {
    this.writable()[path] = activity;
  }

  private remove(path: string): void {
    delete this.writable()[path];
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
