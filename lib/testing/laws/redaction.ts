import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

type Viewed = Extract<Observation, { type: 'looked' }>;

/** Views of an order redact exactly the secret fields in the outputs of steps and in the inputs of undos (F-160, S24). */
export const redaction = ({ masked }: Pick<Setting, 'masked'>): Law => ({
  name: 'redaction',
  after: on(['looked'], ({ orderId, rev, steps, plan }: Viewed) => {
    const shown = [
      ...plan.steps.map(({ agent, operation, input }) => [input, masked.inputs[`${agent}.${operation}`]] as const),
      ...steps.map(({ agent, operation, output }) => [output, masked.outputs[`${agent}.${operation}`]] as const),
    ];
    const wrong = shown.find(
      ([value, redacted]) => value !== null && redacted && JSON.stringify(value) !== JSON.stringify(redacted(idIn(value))),
    );
    return (
      wrong &&
      `order ${orderId}, rev ${rev}: a value is shown as ${JSON.stringify(wrong[0])}, expected ${JSON.stringify(wrong[1]?.(idIn(wrong[0])))}`
    );
  }),
});

const idIn = (value: unknown): string => String((value as { readonly id?: unknown } | null)?.id);
