import { type RequestCommand, requestCommand } from '#core/data/command';
import { isRemote } from '#core/definition/definition';
import { inputOf, nodeAt, stepAt } from '#core/definition/program';
import type { Loaded } from './types.ts';

/** Rebuilds the requests of the last write from the state. The host of that write may have crashed before it sent them. */
export function outstandingRequests({ program, order, record, instance }: Loaded): readonly RequestCommand[] {
  const { orderId, body } = order;
  return instance.lastRequested.flatMap((path): RequestCommand[] => {
    const step = stepAt(program, instance.state, path);
    const node = nodeAt(program, path);
    if (step?.phase !== 'requested' || step.epoch !== record.epoch || !isRemote(node)) return [];

    const input = inputOf(program, { orderId, order: body }, instance.state, path);
    return input.ok ? [{ ...requestCommand(orderId, path, node, step, input.value), resent: true }] : [];
  });
}
