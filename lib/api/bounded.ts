import { type Json, utf8Bytes } from '#core/data/json';

/** Limits, in UTF-8 bytes, for the long parts of one response. Lambda returns at most 6 MB, including the order's body and fault. */
export const answerLimits = { outputs: 1024 * 1024, steps: 3 * 1024 * 1024, history: 2 * 1024 * 1024 } as const;

interface StepView {
  readonly status: string;
  readonly output?: Json;
}

/** The list in which a client can read omitted outputs and steps, page by page. */
const historyOf = (orderId: string): string => `/orders/${orderId}/history`;

/** Returns the steps that fit into one response: omits outputs beyond their limit, and closed steps beyond the limit of steps. */
export function boundedSteps<S extends StepView>(orderId: string, steps: readonly S[]) {
  const readAt = historyOf(orderId);
  const left = { outputs: answerLimits.outputs as number, steps: answerLimits.steps as number };
  const shown = steps.flatMap((step) => {
    const outputBytes = step.output === undefined || step.output === null ? 0 : utf8Bytes(step.output);
    const fits = outputBytes <= left.outputs;
    if (fits) left.outputs -= outputBytes;
    const view = fits ? step : { ...step, output: null, outputReadAt: readAt };
    left.steps -= utf8Bytes({ ...view, output: null } as unknown as Json);
    return left.steps < 0 && step.status === 'Closed' ? [] : [view];
  });
  const leftOut = steps.length - shown.length;
  return { steps: shown, ...(leftOut === 0 ? {} : { stepsLeftOut: { count: leftOut, readAt } }) };
}

/** Returns the first items that fit into one response: at least one, so that a reader can continue. */
export function boundedPage<T>(items: readonly T[]): readonly T[] {
  let left: number = answerLimits.history;
  const beyond = items.findIndex((item) => {
    left -= utf8Bytes(item as unknown as Json);
    return left < 0;
  });
  return beyond < 0 ? items : items.slice(0, Math.max(1, beyond));
}
