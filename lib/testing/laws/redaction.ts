import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

type Viewed = Extract<Observation, { type: 'viewed' }>;

/** Step reports and undo plans redact exactly the secret fields of outputs and inputs (F-160, S24). */
export const redaction = ({ redactedValues }: Pick<Setting, 'redactedValues'>): Law => ({
  name: 'redaction',
  after: on(['viewed'], ({ orderId, rev, steps, plan }: Viewed) => {
    const shown = [
      ...plan.steps.map(({ agent, operation, input }) => [input, redactedValues.inputs[`${agent}.${operation}`]] as const),
      ...steps.map(({ agent, operation, output }) => [output, redactedValues.outputs[`${agent}.${operation}`]] as const),
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
