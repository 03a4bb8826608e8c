import type { StepState } from '../core/activities/step.ts';
import { advance } from '../core/advance.ts';
import type { AskCommand, Command } from '../core/command.ts';
import type { WorkflowDefinition } from '../core/definition.ts';
import type { Event, StepReply } from '../core/event.ts';
import { explain } from '../core/explain.ts';
import { type Fault, shortType } from '../core/fault.ts';
import { requestIdOf } from '../core/identity.ts';
import type { CoreFact } from '../core/journal.ts';
import type { Json } from '../core/json.ts';
import { type Program, programOf } from '../core/program.ts';
import { initialState, type Outcome, type State } from '../core/state.ts';
import { createAnswers } from './answers.ts';
import { type Happening, nextDue, Supervision } from './clockwork.ts';
import { Effects } from './effects.ts';
import type { Purpose, Rule, When } from './when.ts';
import { ruleOf } from './when.ts';

/** One asking of an agent, and what came of it. */
export interface RehearsedStep {
  /** `order/retry/charge`. */
  readonly path: string;
  /** `payment.charge`. */
  readonly operation: string;
  readonly purpose: Purpose;
  readonly attempt: number;
  readonly input: Json;
  /** `ok`, the fault by its short name, `rejected`, or `silent`. */
  readonly answer: string;
  /** Milliseconds since the order began. */
  readonly at: number;
}

/** How a rehearsal ended. `stuck`: something is tried again and again, as a dead service would have it. */
export type RehearsedOutcome = Outcome | 'held' | 'stuck';

export interface Rehearsal {
  readonly outcome: RehearsedOutcome;
  /** Why it is held. */
  readonly fault: Fault | undefined;
  /** All that was asked, oldest first. */
  readonly steps: readonly RehearsedStep[];
  /** Paths of the steps that were undone, in that order. */
  readonly undone: readonly string[];
  /** Paths of the steps that stay done; with a `?` where nobody knows. */
  readonly leftDone: readonly string[];
  readonly commands: readonly Command[];
  /** What the journal says of it, oldest first. */
  readonly facts: readonly CoreFact[];
  readonly state: State;
  /** How long it took the order, in virtual time. */
  readonly tookMs: number;
  /** "inventory.reserve ok, payment.charge CardDeclined, inventory.release ok, compensated" */
  story(): string;
  /** Why it is where it is, in a sentence. */
  why(): string;
}

/** A request on its way to its agent. */
interface Sent {
  readonly ask: AskCommand;
  readonly purpose: Purpose;
}

const orderId = 'rehearsal';
const startAt = Date.UTC(2026, 0, 1);
/** As the system's, where an operation says nothing itself. */
const stepMs = 30_000;
/** What is still not through then is stuck. */
const vainMax = 5;
const eventsMax = 100_000;

/** Plays a workflow in virtual time: the core alone, with no queues, agents or store. */
export const rehearse = (workflow: WorkflowDefinition, order: Json, ...whens: readonly When[]): Rehearsal =>
  new Rehearsing(workflow, order, whens.map(ruleOf)).play();

class Rehearsing {
  private readonly program: Program;
  private readonly order: Json;
  private readonly answerTo: ReturnType<typeof createAnswers>;
  private readonly supervision: Supervision;
  private readonly effects = new Effects();
  private readonly steps: RehearsedStep[] = [];
  private readonly commands: Command[] = [];
  private readonly facts: CoreFact[] = [];
  private readonly inbox: Sent[] = [];
  private readonly vain = new Map<string, number>();
  private state = initialState;
  private now = startAt;
  private epoch = 1;
  private events = 0;

  constructor(workflow: WorkflowDefinition, order: Json, rules: readonly Rule[]) {
    this.program = programOf(workflow);
    this.order = order;
    this.answerTo = createAnswers(workflow, rules);
    this.supervision = new Supervision(this.program);
  }

  play(): Rehearsal {
    this.happen({ type: 'started', stepMs });
    for (;;) {
      const sent = this.inbox.shift();
      if (sent) this.serve(sent);
      else if (this.state.phase === 'running' && !this.isStuck()) this.wait();
      else return this.result();
    }
  }

  private happen(happening: Happening): void {
    if (++this.events > eventsMax)
      throw new Error(`The rehearsal of ${this.program.definition.name} does not end: ${eventsMax} events so far.`);
    const event = { ...happening, at: this.now, epoch: this.epoch } as Event;
    const { state, commands, facts } = advance(this.program, { orderId, order: this.order }, this.state, event);
    this.state = state;
    this.commands.push(...commands);
    this.facts.push(...facts);
    this.inbox.push(...commands.flatMap((command) => this.sent(command)));
    for (const fact of facts) if (fact.type === 'UndoFailed') this.vain.set(fact.path, (this.vain.get(fact.path) ?? 0) + 1);
  }

  /** What is still asked for once the transition is over; that which was asked and given up within it is never sent. */
  private sent(command: Command): readonly Sent[] {
    if (command.type !== 'ask') return [];
    const own = this.state.activities[command.path]?.own as StepState | undefined;
    if (own?.phase !== 'asked' || requestIdOf(orderId, command.path, own) !== command.requestId) return [];
    return [{ ask: command, purpose: own.mode === 'undo' || own.mode === 'settle' ? own.mode : 'do' }];
  }

  /** What was sent is served, whatever has become of the order meanwhile. */
  private serve({ ask, purpose }: Sent): void {
    const { path, agent, input, attempt, requestId } = ask;
    const operation = `${agent}.${ask.operation}`;
    const reply = this.answerTo({ operation, path, purpose }, ask);
    this.steps.push({ path, operation, purpose, attempt, input, answer: answerText(reply), at: this.now - startAt });
    this.effects.note(path, purpose, reply);
    if (reply === 'silence') return;
    this.happen({ type: 'replied', requestId, sentAt: this.now, reply: withSource(reply, path) });
  }

  private wait(): void {
    const due = nextDue(this.program, this.state);
    if (!due) throw new Error(`The rehearsal of ${this.program.definition.name} waits for nothing: ${explain(this.program, this.state)}`);
    this.now = Math.max(this.now, due.at);
    if (!due.counts) return this.happen({ type: 'woken' });
    const { event, laterMs, newClaim } = this.supervision.expire(due);
    this.now += laterMs;
    if (newClaim) this.epoch += 1;
    this.happen(event);
  }

  private isStuck(): boolean {
    return this.supervision.longWaits >= vainMax || [...this.vain.values()].some((times) => times >= vainMax);
  }

  private result(): Rehearsal {
    const { state, steps, commands, facts, program, now } = this;
    const fault = state.held?.fault;
    const outcome = state.phase === 'closed' ? (state.outcome ?? 'completed') : fault ? 'held' : 'stuck';
    const end = fault ? `held for ${shortType(fault.type)}` : outcome;
    return {
      outcome,
      fault,
      steps,
      undone: this.effects.undone,
      leftDone: this.effects.leftDone(),
      commands,
      facts,
      state,
      tookMs: now - startAt,
      story: () => [...steps.map(({ operation, answer }) => `${operation} ${answer}`), end].join(', '),
      why: () => explain(program, state, now),
    };
  }
}

const answerText = (reply: Rule['answer']): string =>
  reply === 'silence'
    ? 'silent'
    : reply.status === 'failed'
      ? shortType(reply.fault.type)
      : reply.status === 'succeeded'
        ? 'ok'
        : reply.status;

const withSource = (reply: StepReply, path: string): StepReply =>
  reply.status === 'failed' ? { ...reply, fault: { ...reply.fault, source: path } } : reply;
