import { isDeepStrictEqual } from 'node:util';
import type { StepState } from '#core/activities/step';
import { advance, type Transition } from '#core/advance';
import type { RequestCommand } from '#core/data/command';
import type { Event, EventContent } from '#core/data/event';
import type { CoreFact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import { initialState, type State } from '#core/data/state';
import type { WorkflowDefinition } from '#core/definition/definition';
import { nodeAt, type Program, programOf } from '#core/definition/program';
import type { Purpose } from './stubs.ts';
import { Supervision } from './virtual-time.ts';

/** Who waits for the end of a child: an asking of the order that called it. */
export interface Waiter {
  readonly player: Player;
  readonly command: RequestCommand;
  readonly purpose: Purpose;
}

/** One order that is played: the order itself, or one that it has called. */
export class Player {
  readonly program: Program;
  readonly orderId: string;
  /** Before the paths of what it asks for: empty, or `order/ship-one > `. */
  readonly prefix: string;
  /** The same for the story: `ship-one > `. */
  readonly label: string;
  readonly supervision: Supervision;
  readonly vain = new Map<string, number>();
  state: State = initialState;
  epoch = 1;
  waiter: Waiter | undefined;
  private readonly order: Json;
  private readonly computes: boolean;

  constructor(workflow: WorkflowDefinition, order: Json, { orderId, prefix, label }: Pick<Player, 'orderId' | 'prefix' | 'label'>) {
    this.program = programOf(workflow);
    this.order = order;
    this.orderId = orderId;
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
    const play = () => advance(this.program, { orderId: this.orderId, order: this.order }, before, event);
    const transition = play();
    if (this.computes) checkPurity(this.program, transition.facts, play().facts);
    this.state = transition.state;
    for (const fact of transition.facts) if (fact.type === 'UndoFailed') this.vain.set(fact.path, (this.vain.get(fact.path) ?? 0) + 1);
    return transition;
  }

  local(path: string): StepState | undefined {
    return this.state.activities[path]?.local as StepState | undefined;
  }
}

/** The same event leads to the same answer, unless a function that the workflow computes with is not pure. */
function checkPurity(program: Program, facts: readonly CoreFact[], again: readonly CoreFact[]): void {
  for (const [index, fact] of facts.entries()) {
    const other = again[index];
    if (isDeepStrictEqual(fact, other) || !('path' in fact) || fact.path === undefined) continue;
    const node = nodeAt(program, fact.path);
    if (node.activity !== 'compute') continue;
    throw new Error(
      `The function ${node.function} (${fact.path}) is not pure: for the same input it gave ${given(fact)} and then ${given(other)}. Whatever it depends on belongs in its input.`,
    );
  }
}

const given = (fact: CoreFact | undefined): string => {
  if (fact?.type === 'ActivityClosed' && 'output' in fact) return JSON.stringify(fact.output);
  return fact && 'fault' in fact && fact.fault ? `"${fact.fault.message}"` : 'something else';
};

const insideMark = ' > ';

/** Before the paths of what happens in a child, and before its steps in the story. */
export const inside = (what: string): string => `${what}${insideMark}`;

export const isInChild = (path: string): boolean => path.includes(insideMark);
