import type { AppRule } from '#authoring/rule';
import { outputOf, workflowsAgent } from '#core/data/child-order';
import type { Command, RequestCommand } from '#core/data/command';
import type { EventContent, StepReply } from '#core/data/event';
import { engineFaults, type Fault, isQuestion, shortType } from '#core/data/fault';
import { requestIdOf } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import type { WorkflowDefinition } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { explain } from '#core/views/explain';
import { type Answered, Answers } from './answers.ts';
import { Children } from './children.ts';
import { Outside } from './clients.ts';
import { Decisions, happeningOf, textOf } from './decisions.ts';
import { Effects } from './effects.ts';
import { Player } from './player.ts';
import { Recording } from './recording.ts';
import type { Rehearsal } from './rehearse.ts';
import { RehearsedRules } from './rules.ts';
import { lastNamed, type Purpose, type Rule, type TestDecision } from './stubs.ts';
import { type Due, nextDue } from './virtual-time.ts';

const startAt = Date.UTC(2026, 0, 1);
/** Failures of one undo, or long pauses of an order, until the rehearsal counts as stuck. A stub for the n-th request raises the limit by n. */
const repetitionsMax = 5;
/** The number of events after which a rehearsal fails, because its order never ends. */
const eventsMax = 100_000;

/** An order in virtual time, with the orders that it calls and its stubs. */
export class World {
  /** The system's default time limit of a step. */
  readonly stepMs = 30_000;
  private readonly main: Player;
  private readonly answers: Answers;
  private readonly children = new Children(this);
  /** Signals, and answers to questions, that the stubs send when the order waits for them. */
  private readonly outside: Outside;
  private readonly decisions: Decisions;
  /** Answers of agents and decisions of people, which arrive at a set time. */
  private readonly scheduled: { readonly at: number; readonly arrives: () => void }[] = [];
  private readonly effects = new Effects();
  private readonly recording = new Recording();
  private readonly jobs: (() => void)[] = [];
  private readonly appRules: RehearsedRules;
  private readonly repetitionsMax: number;
  private now = startAt;
  private events = 0;

  constructor(workflow: WorkflowDefinition, order: Json, stubs: readonly Rule[], appRules: readonly AppRule[] = []) {
    this.appRules = new RehearsedRules(appRules);
    this.main = new Player(workflow, order, { orderId: 'rehearsal', prefix: '', label: '' });
    const answering = stubs.filter(({ decision }) => decision === undefined);
    this.answers = new Answers(answering);
    this.decisions = new Decisions(stubs);
    for (const { atMs, decision } of this.decisions.timed) this.later(atMs, () => this.decide(decision));
    this.repetitionsMax = repetitionsMax + lastNamed(answering);
    this.outside = new Outside(this.answers, startAt);
  }

  play(): Rehearsal {
    this.happen(this.main, { type: 'started', stepMs: this.stepMs });
    for (;;) {
      const job = this.jobs.shift();
      if (job) job();
      else if (this.main.state.phase === 'closed') return this.result();
      else if (!this.goesOn() && !this.decideNext()) return this.result();
    }
  }

  happen(player: Player, happening: EventContent): void {
    if (++this.events > eventsMax) throw new Error(`The rehearsal of ${this.main.name} does not end: gave up after ${eventsMax} events.`);
    const { commands, facts } = player.happen(happening, this.now);
    if (player === this.main) {
      this.recording.commands.push(...commands);
      this.recording.facts.push(...facts);
    }
    for (const command of commands) this.send(player, command);
    for (const fact of facts) this.hear(player, fact);
    this.askRules(player);
    this.outside.look(player, this.now);
    if (player.state.phase === 'closed' && player.waiter) this.jobs.push(() => this.children.ended(player));
  }

  /** Asks the rules of the app about the exception for which an order is blocked. */
  private askRules(player: Player): void {
    const ruled = this.appRules.about(player, player === this.main ? this.recording.facts : [], this.now);
    if (ruled) this.recording.tell(player, ruled.text);
    for (const happening of ruled?.happenings ?? []) this.happen(player, happening);
  }

  /** Advances time. A rehearsal that is stuck goes on only for an answer or a decision that has still to arrive. */
  private goesOn(): boolean {
    return (this.scheduled.length > 0 || !this.isStuck()) && this.passTime();
  }

  private readonly later = (ms: number, arrives: () => void): void => void this.scheduled.push({ at: this.now + ms, arrives });

  private decide(decision: TestDecision): void {
    const happening = happeningOf(decision, this.main, this.now);
    this.recording.tell(this.main, `${textOf(decision)}${decision.kind === 'signal' ? ' ok' : ''}`);
    this.happen(this.main, happening);
  }

  /** Gives the next instruction to an order that cannot continue. The failures and long pauses before it no longer count towards the limit. */
  private decideNext(): boolean {
    const decision = this.decisions.next();
    if (!decision) return false;
    for (const player of this.players()) {
      player.undoFailures.clear();
      player.supervision.longWaits = 0;
    }
    this.decide(decision);
    return true;
  }

  /** Records the answer to a request, and sends it to the order. */
  answer(player: Player, command: RequestCommand, purpose: Purpose, reply: Answered['reply']): void {
    this.recording.answer(player, command, purpose, reply, this.now - startAt);
    if (reply === 'silence') return;
    this.happen(player, { type: 'replied', requestId: command.requestId, sentAt: this.now, reply: withSource(reply, command.path) });
  }

  /** Sends the requests that are still open after the transition. A request made and abandoned within it is never sent. */
  private send(player: Player, command: Command): void {
    if (command.type === 'cancel' && command.agent === workflowsAgent)
      return void this.jobs.push(() => this.children.cancel(command.idempotencyKey));
    if (command.type !== 'request') return;
    const local = player.stepAt(command.path);
    if (local?.phase !== 'requested' || requestIdOf(player.orderId, command.path, local) !== command.requestId) return;
    const purpose = local.mode === 'undo' || local.mode === 'confirm' ? local.mode : 'do';
    this.jobs.push(() => this.serve(player, command, purpose));
  }

  /** Serves a sent request, even if the order has changed since. */
  private serve(player: Player, command: RequestCommand, purpose: Purpose): void {
    const path = `${player.prefix}${command.path}`;
    const requested = { operation: `${command.agent}.${command.operation}`, path, purpose, input: command.input };
    for (const decision of this.decisions.during(requested)) this.decide(decision);
    const isCall = command.agent === workflowsAgent;
    const answered = isCall ? this.answers.ofCall(requested) : this.answers.ofAgent(requested, command, player.program.definition);
    if (answered === undefined) return this.children.serve(player, command, purpose);
    const { reply, afterMs } = answered;
    const arrives = (what: Answered['reply']) => {
      this.effects.note(path, purpose, what);
      this.answer(player, command, purpose, what);
    };
    if (afterMs === 0) return arrives(reply);
    // A long operation sends heartbeats while it runs. An agent sends no reply after the deadline.
    this.happen(player, { type: 'heartbeat', requestId: command.requestId, completeBy: this.now + afterMs + 1 });
    const completeBy = isCall ? Infinity : (player.stepAt(command.path)?.completeBy ?? 0);
    if (this.now + afterMs >= completeBy) return arrives('silence');
    // The outcome is unknown until the operation answers.
    this.effects.note(path, purpose, 'silence');
    this.later(afterMs, () => arrives(reply));
  }

  private hear(player: Player, fact: CoreFact): void {
    if ((fact.type !== 'FaultRaised' && fact.type !== 'OrderBlocked') || fact.fault.type !== engineFaults.noSignal) return;
    const node = nodeAt(player.program, fact.path);
    if (node.activity === 'waitFor') this.recording.tell(player, `signal ${node.signal} ${shortType(fact.fault.type)}`);
  }

  private readonly players = (): readonly Player[] => [this.main, ...this.children.all];

  /** Advances time to the next arrival or timer. Returns false if there is none. */
  private passTime(): boolean {
    const dues = this.players().flatMap((player): readonly (readonly [Player, Due])[] => {
      const due = player.state.phase === 'running' ? nextDue(player.program, player.state) : undefined;
      return due ? [[player, due]] : [];
    });
    const [first] = dues.toSorted(([, one], [, other]) => one.at - other.at);
    const coming = this.outside.first();
    const arriving = this.scheduled.toSorted((one, other) => one.at - other.at)[0];
    if (arriving && arriving.at <= Math.min(first?.[1].at ?? Infinity, coming?.at ?? Infinity)) {
      this.scheduled.splice(this.scheduled.indexOf(arriving), 1);
      this.now = Math.max(this.now, arriving.at);
      arriving.arrives();
    } else if (coming && (!first || coming.at <= first[1].at)) {
      this.now = Math.max(this.now, coming.at);
      this.recording.tell(coming.player, `${coming.operation} ok`);
      this.happen(coming.player, coming.happening);
    } else if (first) this.timeIsUp(...first);
    return arriving !== undefined || coming !== undefined || first !== undefined;
  }

  private timeIsUp(player: Player, due: Due): void {
    this.now = Math.max(this.now, due.at);
    if (!due.counts) return this.happen(player, { type: 'woken' });
    const { events, newClaim } = player.supervision.expire(due, player.state, this.now);
    if (newClaim) player.epoch += 1;
    for (const event of events) this.happen(player, event);
  }

  private readonly isStuck = (): boolean => this.players().some((player) => repeatsHopelessly(player, this.repetitionsMax));

  private result(): Rehearsal {
    const { main, now, effects, recording } = this;
    const { steps, commands, facts } = recording;
    const { state, program } = main;
    const { outcome, end, fault } = this.ending();
    return {
      outcome,
      fault,
      output: outputOf(state),
      steps,
      waits: this.outside.waits,
      undone: effects.undone,
      leftDone: effects.leftDone(),
      commands,
      facts,
      state,
      tookMs: now - startAt,
      story: () => recording.story(end),
      why: () => explain(program, state, now),
    };
  }

  private ending(): Pick<Rehearsal, 'outcome' | 'fault'> & { readonly end: string } {
    const { phase, outcome = 'completed', cause } = this.main.state;
    if (phase === 'closed') return { outcome, end: outcome, fault: cause };
    const block = this.players()
      .map(blockOf)
      .find((each) => each !== undefined);
    if (block) return { outcome: 'blocked', ...block };
    const waits = this.isStuck() ? undefined : this.outside.stillWaits();
    return waits === undefined ? { outcome: 'stuck', end: 'stuck', fault: undefined } : { outcome: 'waits', end: waits, fault: undefined };
  }
}

/** Returns the fault or question for which an order waits for a person, and its text. */
function blockOf({ state: { blocked }, program, label }: Player): { readonly end: string; readonly fault: Fault } | undefined {
  if (!blocked) return undefined;
  const { path, fault } = blocked;
  const what = isQuestion(fault) ? `the question ${nodeAt(program, path).name}` : shortType(fault.type);
  return { end: `${label}blocked for ${what}`, fault };
}

/** Whether a wait or an undo of an order has repeated so often that more repetitions change nothing. */
const repeatsHopelessly = ({ supervision, undoFailures }: Player, most: number): boolean =>
  supervision.longWaits >= most || [...undoFailures.values()].some((times) => times >= most);

const withSource = (reply: StepReply, path: string): StepReply =>
  reply.status === 'failed' ? { ...reply, fault: { ...reply.fault, source: path } } : reply;
