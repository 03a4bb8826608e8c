import { type Json, utf8Bytes } from '#core/data/json';

/** UTF-8 bytes of what may be long in one answer. Lambda answers with 6 MB at most, the order's body and fault included. */
export const answerLimits = { outputs: 1024 * 1024, steps: 3 * 1024 * 1024, history: 2 * 1024 * 1024 } as const;

interface StepView {
  readonly status: string;
  readonly output?: Json;
}

/** Where what is left out can be read, page by page. */
const historyOf = (orderId: string): string => `/orders/${orderId}/history`;

/** The steps of an order as far as they fit into an answer: first outputs are left out, then closed steps. */
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

/** The first of a list that fit into an answer; always one at least, so that a reader gets on. */
export function boundedPage<T>(items: readonly T[]): readonly T[] {
  let left: number = answerLimits.history;
  const beyond = items.findIndex((item) => {
    left -= utf8Bytes(item as unknown as Json);
    return left < 0;
  });
  return beyond < 0 ? items : items.slice(0, Math.max(1, beyond));
}
