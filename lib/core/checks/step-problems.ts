import type { Step } from '#core/activities/step';
import { isObject } from '#core/data/json';
import { secondsProblem } from '#core/definition/definition';

/** What is wrong with a step's own fields, a sentence each. */
export function problems({
  agent,
  operation,
  completeWithinSeconds,
  withinSeconds,
  longestSeconds,
  undo,
  lasting,
}: Step): readonly string[] {
  const nameless = Object.entries({ agent, operation }).filter(([, name]) => typeof name !== 'string' || name === '');
  const times = Object.entries({ completeWithinSeconds, withinSeconds, longestSeconds }).filter(([, seconds]) => seconds !== undefined);
  return [
    ...nameless.map(([field]) => `It names no ${field}.`),
    ...times.flatMap(([field, seconds]) => secondsProblem(field, seconds, 'above 0') ?? []),
    ...(isObject(undo) && 'withinSeconds' in undo
      ? ['Its undo has a time limit: an undo is repeated until it succeeds. Leave out .within(…).']
      : []),
    ...(lasting === undefined || (lasting as unknown) === true ? [] : [`lasting is ${JSON.stringify(lasting)}; it is true, or left out.`]),
    ...(lasting && undo ? ['It has an undo although it says that what it does is to stay: leave out .undo(…) or .lasting().'] : []),
  ];
}
