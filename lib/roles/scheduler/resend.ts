import type { StepState } from '#core/activities/step';
import { type AskCommand, askCommand } from '#core/data/command';
import { asks } from '#core/definition/definition';
import { inputOf, nodeAt } from '#core/definition/program';
import type { Loaded } from './types.ts';

/** What the last write asked for, made again from the state: for when nobody knows whether it was sent. */
export function asksOf({ program, order, record, instance }: Loaded): readonly AskCommand[] {
  const { orderId, body } = order;
  return instance.lastAsked.flatMap((path): AskCommand[] => {
    const own = instance.state.activities[path]?.own as StepState | undefined;
    const node = nodeAt(program, path);
    if (own?.phase !== 'asked' || own.epoch !== record.epoch || !asks(node)) return [];

    const input = inputOf(program, { orderId, order: body }, instance.state, path);
    return input.ok ? [{ ...askCommand(orderId, path, node, own, input.value), resent: true }] : [];
  });
}
