import type { Instruction } from './instruction.ts';
import { timeText } from './messages.ts';
import type { Loaded, Planned } from './planned.ts';

/** What an instruction would do, for a look before it is given. */
export interface InstructionPlan {
  readonly processState: string;
  readonly asks: readonly {
    readonly path: string;
    readonly agent: string;
    readonly operation: string;
    readonly attempt: number;
    readonly idempotencyKey: string;
    readonly completeBy: string;
  }[];
  readonly fault?: string;
}

/** Every reason why an instruction can't be carried out now; none means that it is feasible. */
export function infeasibleReasons({ record, instance }: Loaded, instruction: Instruction, now: number): readonly string[] {
  const reasons: string[] = [];
  if (record.processState === 'Processed') return [`The order is finished (${record.outcome}). Submit a new one instead.`];
  if (instruction.kind === 'terminate') return [];
  if (instance.state.ending) return [`The order is being undone: it ends as ${instance.state.ending.outcome}.`];
  if (instruction.kind === 'cancel') return [];
  if (record.processState !== 'Error')
    return [
      instruction.kind === 'compensate'
        ? `The order is ${record.processState}: only an order in Error is compensated by instruction; cancel it instead.`
        : `The order is ${record.processState}: only an order in Error has a failed step to resubmit.`,
    ];
  if (instruction.kind === 'compensate') return [];

  const { endBy } = instance.state;
  if (endBy !== undefined && endBy <= now && instruction.completeWithinSeconds === undefined) {
    reasons.push(`The time of the whole order was over at ${timeText(endBy)}. Give it more with completeWithinSeconds.`);
  }
  return reasons;
}

export const instructionPlan = (_: Loaded, { record, asks }: Planned): InstructionPlan => ({
  processState: record.processState,
  asks: asks.map(({ path, agent, operation, attempt, idempotencyKey, completeBy }) => ({
    path,
    agent,
    operation,
    attempt,
    idempotencyKey,
    completeBy: timeText(completeBy),
  })),
  ...(record.fault ? { fault: record.fault.type } : {}),
});
