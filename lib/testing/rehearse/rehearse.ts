import type { Command } from '#core/data/command';
import type { Fault } from '#core/data/fault';
import type { CoreFact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import type { Outcome, State } from '#core/data/state';
import type { WorkflowDefinition } from '#core/definition/definition';
import type { Purpose, Stub } from './stubs.ts';
import { ruleOf } from './stubs.ts';
import { World } from './world.ts';

/** One asking of an agent, or a call of a workflow, and what came of it. */
export interface RehearsedStep {
  /** `order/retry/charge`; inside a child: `order/ship-one > order/charge`. */
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

/** What an order has waited for that no agent answers. */
export interface RehearsedWait {
  readonly path: string;
  /** `signal visa`, `question approve`. */
  readonly operation: string;
  /** Milliseconds since the order began. */
  readonly at: number;
}

/**
 * How a rehearsal ended. `waits`: for a signal, for as long as it takes; `stuck`: something is tried again and again, as a
 * dead service would have it.
 */
export type RehearsedOutcome = Outcome | 'blocked' | 'waits' | 'stuck';

export interface Rehearsal {
  readonly outcome: RehearsedOutcome;
  /** Why it is held: the fault, or the question to which nobody has an answer. */
  readonly fault: Fault | undefined;
  /** All that was asked of agents and workflows, in the order of the answers. */
  readonly steps: readonly RehearsedStep[];
  /** The signals and answers of people that were waited for, whether they came or not. */
  readonly waits: readonly RehearsedWait[];
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

/** Plays a workflow in virtual time: the core alone, with no queues, agents or store. */
export const rehearse = (workflow: WorkflowDefinition, order: Json, ...stubs: readonly Stub[]): Rehearsal =>
  new World(workflow, order, stubs.map(ruleOf)).play();
