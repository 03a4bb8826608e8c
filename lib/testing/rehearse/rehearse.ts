import type { AppRule } from '#authoring/rule';
import type { Command } from '#core/data/command';
import type { Fault } from '#core/data/fault';
import type { CoreFact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import type { Outcome, State } from '#core/data/state';
import type { WorkflowDefinition } from '#core/definition/definition';
import type { Purpose, Stub } from './stubs.ts';
import { ruleOf } from './stubs.ts';
import { World } from './world.ts';

/** One request of an agent or of a called workflow, and its result. */
export interface RehearsedStep {
  /** `order/retry/charge`; in a called order: `order/ship-one > order/charge`. */
  readonly path: string;
  /** `payment.charge`; `workflows.ship-one@1`. */
  readonly operation: string;
  readonly purpose: Purpose;
  readonly attempt: number;
  readonly input: Json;
  /** `ok`, the fault by its short name, `rejected`, or `silent`. */
  readonly answer: string;
  /** Milliseconds since the order began. */
  readonly at: number;
}

/** A wait for a signal or for an answer of a person. */
export interface RehearsedWait {
  readonly path: string;
  /** `signal visa`, `question approve`. */
  readonly operation: string;
  /** Milliseconds since the order began. */
  readonly at: number;
}

/**
 * The end of a rehearsal. `waits`: for a signal, without a limit. `stuck`: a request is repeated without success, as when a service is
 * down.
 */
export type RehearsedOutcome = Outcome | 'blocked' | 'waits' | 'stuck';

export interface Rehearsal {
  readonly outcome: RehearsedOutcome;
  /** The reason why the order is blocked, or did not complete: a fault, or a question without an answer. */
  readonly fault: Fault | undefined;
  /** The output of a completed order, if its workflow has one. */
  readonly output: Json | undefined;
  /** All requests to agents and workflows, in the order of their answers. */
  readonly steps: readonly RehearsedStep[];
  /** All waits for signals and answers of people, whether they came or not. */
  readonly waits: readonly RehearsedWait[];
  /** Paths of the undone steps, in the order of their undos. */
  readonly undone: readonly string[];
  /** Paths of the steps with an effect that remains. A `?` marks an unknown outcome. */
  readonly leftDone: readonly string[];
  readonly commands: readonly Command[];
  /** The facts of the journal, oldest first. */
  readonly facts: readonly CoreFact[];
  readonly state: State;
  /** The duration of the order, in virtual time. */
  readonly tookMs: number;
  /** Returns the steps as one line: "inventory.reserve ok, payment.charge CardDeclined, inventory.release ok, compensated". */
  story(): string;
  /** Explains in one sentence why the order is in its state. */
  why(): string;
}

/** Further parts of the app that a rehearsal plays. */
export interface RehearsalOptions {
  /** The rules to ask about exceptions. Rules in dry-run do nothing. */
  readonly rules: readonly AppRule[];
}

/** Rehearses a workflow in virtual time on the core alone, without queues, agents or a store. */
export function rehearse(
  workflow: WorkflowDefinition,
  order: Json,
  ...stubsAndOptions: readonly [...(readonly Stub[]), RehearsalOptions]
): Rehearsal;
export function rehearse(workflow: WorkflowDefinition, order: Json, ...stubs: readonly Stub[]): Rehearsal;
export function rehearse(workflow: WorkflowDefinition, order: Json, ...given: readonly (Stub | RehearsalOptions)[]): Rehearsal {
  const rules = given.flatMap((each) => ('rules' in each ? each.rules : []));
  const stubs = given.filter((each): each is Stub => !('rules' in each));
  return new World(workflow, order, stubs.map(ruleOf), rules).play();
}
