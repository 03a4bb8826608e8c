import type { StepState } from './core/activities/step.ts';
import type { AskCommand } from './core/command.ts';
import { idempotencyKeyOf, requestIdOf } from './core/identity.ts';
import { fill, nodeAt, type Program } from './core/program.ts';
import type { Instance } from './instance.ts';
import type { Loaded } from './planned.ts';
import type { OrderRecord } from './record.ts';

/** What the last write asked for, made again from the state: for when nobody knows whether it was sent. */
export function asksOf({ program, order, record, instance }: Loaded): readonly AskCommand[] {
  return instance.lastAsked.flatMap((path): AskCommand[] => {
    const own = instance.state.activities[path]?.own as StepState | undefined;
    const node = nodeAt(program, path);
    if (own?.phase !== 'asked' || own.epoch !== record.epoch || node.activity !== 'step') return [];
    const input = fill(node.input, scopeOf(program, order, instance));
    if (!input.ok) return [];
    const { orderId } = order;
    const { attempt, epoch, completeBy, generation } = own;
    const requestId = requestIdOf(orderId, path, own);
    return [
      {
        type: 'ask',
        path,
        agent: node.agent,
        operation: node.operation,
        requestId,
        idempotencyKey: idempotencyKeyOf(orderId, path, generation),
        attempt,
        epoch,
        completeBy,
        input: input.value,
      },
    ];
  });
}

const scopeOf = (program: Program, order: OrderRecord, { state }: Instance) => ({
  orderId: order.orderId,
  order: order.body,
  steps: Object.fromEntries(
    [...program.readOutputs].flatMap(([name, path]) => (state.outputs[path] === undefined ? [] : [[name, state.outputs[path]]])),
  ),
});
