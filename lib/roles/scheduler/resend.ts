import { type RequestCommand, requestCommand } from '#core/data/command';
import type { StepState } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import { inputOf, nodeAt } from '#core/definition/program';
import type { Loaded } from './types.ts';

/** Rebuilds the requests of the last write from the state. Its host may have crashed before it sent them. */
export function outstandingRequests({ program, order, record, instance }: Loaded): readonly RequestCommand[] {
  const { orderId, body } = order;
  return instance.lastRequested.flatMap((path): RequestCommand[] => {
    const local = instance.state.activities[path]?.local as StepState | undefined;
    const node = nodeAt(program, path);
    if (local?.phase !== 'requested' || local.epoch !== record.epoch || !isRemote(node)) return [];

    const input = inputOf(program, { orderId, order: body }, instance.state, path);
    return input.ok ? [{ ...requestCommand(orderId, path, node, local, input.value), resent: true }] : [];
  });
}
