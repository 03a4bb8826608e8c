import { behaviorOf } from '#core/activities/index';
import type { Command } from '#core/data/command';
import type { Event } from '#core/data/event';
import type { Fault } from '#core/data/fault';
import type { CoreFact } from '#core/data/journal';
import { type Json, utf8Bytes } from '#core/data/json';
import type { ActivityState, Outcome, State } from '#core/data/state';
import type { StepState } from '#core/data/step-state';
import { type Activity, limits } from '#core/definition/definition';
import { nodeAt, type Program, parentOf, stepAt } from '#core/definition/program';
import type { Behavior, Context } from './behavior.ts';
import { ActivityContext } from './context.ts';
import type { Job } from './job.ts';
import { JobQueue } from './job-queue.ts';
import { closedWith } from './memory.ts';
import { ChildIndex } from './parents.ts';
import type { ByteBudget, Inputs, Subject, Transition } from './transition.ts';
import type { UndoPages } from './undo-pages.ts';
import { numberedBytes, Sizes } from './value-sizes.ts';

/**
 * One transition under construction: the state so far, the commands and facts, and the jobs that are left. It decides
 * nothing. The other modules of this folder decide, and change the transition through this class.
 */
export class TransitionBuilder {
  readonly program: Program;
  readonly subject: Subject;
  readonly event: Event;
  state: State;
  readonly commands: Command[] = [];
  private readonly facts: CoreFact[] = [];
  readonly jobs = new JobQueue();
  /** Activities that block the order. Another fault of the same instant may still cancel them (see `advance`). */
  private blocking: readonly string[] | undefined;
  /** Whether the other activities go on although one is blocked. */
  continuesWhileBlocked = false;
  private copied = false;
  /** The number of children that this event has started so far. */
  startedCount = 0;
  private needs: number | undefined;
  private childIndex: ChildIndex | undefined;
  private readonly sizes = new Sizes();
  readonly pages: UndoPages;
  readonly byteBudget: ByteBudget | undefined;
  /** Bytes of the facts so far; counted only with a byte budget. */
  factBytes = 0;

  constructor(program: Program, subject: Subject, state: State, event: Event, { pages = new Map(), byteBudget }: Inputs) {
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

  /** Returns the activity at a path, with the settings that a person has changed for this order. */
  node(path: string): Activity {
    const node = nodeAt(this.program, path);
    const changed = this.state.amended?.retry?.[path];
    return changed && node.activity === 'retry' ? { ...node, ...changed } : node;
  }

  behavior(path: string): Behavior {
    return behaviorOf(this.node(path).activity);
  }

  local(path: string): unknown {
    return this.state.activities[path]?.local;
  }

  /** Returns the local state of a step or call that has one. Undefined for every other activity. */
  stepAt(path: string): StepState | undefined {
    return stepAt(this.program, this.state, path);
  }

  /** Returns the local state of a step or call that is known to have one. */
  step(path: string): StepState {
    const step = this.stepAt(path);
    if (!step) throw new Error(`${path} is not an open step.`);
    return step;
  }

  /** Returns the context of an activity. `reader`: the path at which expressions are evaluated, if it is not the path of the activity. */
  context(path: string, reader?: string): Context {
    return new ActivityContext(this, path, reader);
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

  /**
   * Sets the local state of an activity; `undefined` keeps the present one. Drops the reply that the activity has kept, because the reply
   * is applied now.
   */
  setLocal(path: string, local: unknown): void {
    const { reply: _, ...activity } = this.activity(path) ?? { status: 'Executing' as const };
    this.put(path, local === undefined ? activity : { ...activity, local });
  }

  setStep(path: string, step: StepState): void {
    this.setLocal(path, step);
  }

  remove(path: string): void {
    this.childIndex?.remove(path, this.parentFor(path));
    delete this.writable()[path];
  }

  /** Copies the activities at the first change. The given state stays unchanged. */
  private writable(): { [path: string]: ActivityState } {
    if (!this.copied) {
      this.state = { ...this.state, activities: { ...this.state.activities } };
      this.copied = true;
    }
    return this.state.activities as { [path: string]: ActivityState };
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

  fact(fact: CoreFact): void {
    this.facts.push(fact);
    if (this.byteBudget) this.factBytes += utf8Bytes(fact as unknown as Json) + numberedBytes;
  }

  /** Returns the next job. Undefined if none is left, the order has closed, or a page of the undo list is missing. */
  nextJob(): Job | undefined {
    if (this.state.phase === 'closed' || this.needs !== undefined) this.jobs.clear();
    return this.jobs.shift();
  }

  blockFor(path: string): void {
    this.blocking = [...(this.blocking ?? []), path];
  }

  /** Returns the first activity that blocks the order and was not canceled meanwhile. */
  blockingPath(): string | undefined {
    return this.blocking?.find((path) => this.activity(path)?.awaitsPerson);
  }

  /** Whether further activities may continue in this transition. */
  continues(): boolean {
    return this.state.phase === 'running' && (this.continuesWhileBlocked || this.blockingPath() === undefined);
  }

  /** Closes the order with this outcome. Its open activities and the jobs that are left are dropped. */
  end(outcome: Outcome): void {
    this.state = closedWith(outcome, this.state);
    this.copied = true;
    this.childIndex = undefined;
    this.jobs.clear();
  }

  /** Returns the number of bytes of the state so far, as JSON. */
  bytes(): number {
    return this.sizes.ofState(this.state);
  }

  /** The number of activities that may still start in this event. */
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
}
