import { isDeepStrictEqual } from 'node:util';
import { advance, type Subject, type Transition } from '#core/advance';
import type { RequestCommand } from '#core/data/command';
import type { Event, EventContent } from '#core/data/event';
import type { CoreFact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import { initialState, type State } from '#core/data/state';
import type { StepState } from '#core/data/step-state';
import type { WorkflowDefinition } from '#core/definition/definition';
import { nodeAt, type Program, programOf, stepAt } from '#core/definition/program';
import type { Purpose } from './stubs.ts';
import { Supervision } from './virtual-time.ts';

/** The caller that waits for the end of a called order, and its request. */
export interface Waiter {
  readonly player: Player;
  readonly command: RequestCommand;
  readonly purpose: Purpose;
}

/** One rehearsed order: the order itself, or one that it calls. */
export class Player {
  readonly program: Program;
  readonly orderId: string;
  /** The prefix of its request paths: empty, or `order/ship-one > `. */
  readonly prefix: string;
  /** The prefix of its steps in `story()`: `ship-one > `. */
  readonly label: string;
  readonly supervision: Supervision;
  /** The number of failures of each undo since the last decision, by its path. */
  readonly undoFailures = new Map<string, number>();
  state: State = initialState;
  epoch = 1;
  waiter: Waiter | undefined;
  readonly subject: Subject;
  private readonly computes: boolean;

  constructor(workflow: WorkflowDefinition, order: Json, { orderId, prefix, label }: Pick<Player, 'orderId' | 'prefix' | 'label'>) {
    this.program = programOf(workflow);
    this.orderId = orderId;
    this.subject = { orderId, order };
    this.prefix = prefix;
    this.label = label;
    this.supervision = new Supervision(this.program);
    this.computes = [...this.program.nodes.values()].some(({ activity }) => activity === 'compute');
  }

  get name(): string {
    return this.program.definition.name;
  }

  happen(happening: EventContent, at: number): Transition {
    const event = { ...happening, at, epoch: this.epoch } as Event;
    const before = this.state;
    const play = () => advance(this.program, this.subject, before, event);
    const transition = play();
    if (this.computes) checkPurity(this.program, transition.facts, play().facts);
    this.state = transition.state;
    for (const fact of transition.facts)
      if (fact.type === 'UndoFailed') this.undoFailures.set(fact.path, (this.undoFailures.get(fact.path) ?? 0) + 1);
    return transition;
  }

  stepAt(path: string): StepState | undefined {
    return stepAt(this.program, this.state, path);
  }
}

/** Throws if the same event had two results: then a `compute` function is not pure. */
function checkPurity(program: Program, facts: readonly CoreFact[], again: readonly CoreFact[]): void {
  for (const [index, fact] of facts.entries()) {
    const other = again[index];
    if (isDeepStrictEqual(fact, other) || !('path' in fact) || fact.path === undefined) continue;
    const node = nodeAt(program, fact.path);
    if (node.activity !== 'compute') continue;
    throw new Error(
      `Function ${node.function} (${fact.path}) is not pure: for the same input it returned ${resultText(fact)} and then ${resultText(other)}. Pass everything it depends on as input.`,
    );
  }
}

const resultText = (fact: CoreFact | undefined): string => {
  if (fact?.type === 'ActivityClosed' && 'output' in fact) return JSON.stringify(fact.output);
  return fact && 'fault' in fact && fact.fault ? `"${fact.fault.message}"` : 'something else';
};

const insideMark = ' > ';

/** Returns the prefix for paths and steps of a called order. */
export const inside = (what: string): string => `${what}${insideMark}`;

export const isInChild = (path: string): boolean => path.includes(insideMark);
