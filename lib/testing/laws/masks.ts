import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

type Looked = Extract<Observation, { type: 'looked' }>;

/** F-160, S24: of what a step has answered, and of what its undo is asked with, what is secret is masked, and nothing else. */
export const masks = ({ masked }: Pick<Setting, 'masked'>): Law => ({
  name: 'masks',
  after: on(['looked'], ({ orderId, rev, steps, plan }: Looked) => {
    const shown = [
      ...plan.steps.map(({ agent, operation, input }) => [input, masked.inputs[`${agent}.${operation}`]] as const),
      ...steps.map(({ agent, operation, output }) => [output, masked.outputs[`${agent}.${operation}`]] as const),
    ];
    const wrong = shown.find(
      ([value, wanted]) => value !== null && wanted && JSON.stringify(value) !== JSON.stringify(wanted(idIn(value))),
    );
    return (
      wrong && `${orderId}, rev ${rev}: it is shown as ${JSON.stringify(wrong[0])} instead of ${JSON.stringify(wrong[1]?.(idIn(wrong[0])))}`
    );
  }),
});

const idIn = (value: unknown): string => String((value as { readonly id?: unknown } | null)?.id);
