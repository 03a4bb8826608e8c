import { workflowsAgent } from '#core/data/child-order';
import type { Command, RequestCommand } from '#core/data/command';
import { shortType } from '#core/data/fault';
import { undonePath } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import { nodeAt } from '#core/definition/program';
import { parseWorkflowRef } from '#core/definition/workflow-ref';
import type { Answered } from './answers.ts';
import type { Player } from './player.ts';
import type { RehearsedStep } from './rehearse.ts';
import type { Purpose } from './stubs.ts';

/** The steps, commands and facts of a rehearsal, and its story. */
export class Recording {
  readonly steps: RehearsedStep[] = [];
  readonly commands: Command[] = [];
  readonly facts: CoreFact[] = [];
  private readonly told: string[] = [];

  /** Records the answer to a request. `at`: milliseconds since the order began. */
  answer(player: Player, command: RequestCommand, purpose: Purpose, reply: Answered['reply'], at: number): void {
    const { agent, operation, attempt, input } = command;
    const path = `${player.prefix}${command.path}`;
    const answer = answerText(reply);
    this.steps.push({ path, operation: `${agent}.${operation}`, purpose, attempt, input, answer, at });
    this.tell(player, agent === workflowsAgent ? callText(player, command, answer) : `${agent}.${operation} ${answer}`);
  }

  tell(player: Player, text: string): void {
    this.told.push(`${player.label}${text}`);
  }

  story(end: string): string {
    return [...this.told, end].join(', ');
  }
}

const answerText = (reply: Answered['reply']): string =>
  reply === 'silence'
    ? 'silent'
    : reply.status === 'failed'
      ? shortType(reply.fault.type)
      : reply.status === 'succeeded'
        ? 'ok'
        : reply.status;

/** Returns a line of `story()`: `ship-one ok`, `ship-one AddressInvalid`, `ship-one undone`. */
function callText({ program }: Player, { path, operation }: RequestCommand, answer: string): string {
  const isUndo = operation === 'undo';
  const node = nodeAt(program, isUndo ? undonePath(path) : path);
  const name = node.activity === 'call' ? parseWorkflowRef(node.operation).name : operation;
  return `${name} ${isUndo && answer === 'ok' ? 'undone' : answer}`;
}
