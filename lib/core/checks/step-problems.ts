import type { RemoteStep } from '#core/activities/step';
import { isObject } from '#core/data/json';
import { secondsProblem } from '#core/definition/definition';

/** Returns the problems of a step's own fields, one sentence each. */
export function problems({
  agent,
  operation,
  completeWithinSeconds,
  withinSeconds,
  longestSeconds,
  undo,
  noUndo,
  expects,
}: RemoteStep): readonly string[] {
  const nameless = Object.entries({ agent, operation }).filter(([, name]) => typeof name !== 'string' || name === '');
  const times = Object.entries({ completeWithinSeconds, withinSeconds, longestSeconds }).filter(([, seconds]) => seconds !== undefined);
  return [
    ...nameless.map(([field]) => `The field "${field}" must be a name, and not empty.`),
    ...times.flatMap(([field, seconds]) => secondsProblem(field, seconds, 'above 0') ?? []),
    ...(isObject(undo) && 'withinSeconds' in undo
      ? ['Its undo has a time limit, which no undo can have: it is repeated until it succeeds. Leave out .within(…).']
      : []),
    ...(isObject(undo) && 'expects' in undo
      ? ['Its undo has a condition on the answer, which no undo can have: it is done when its agent says so. Leave out .expecting(…).']
      : []),
    ...(noUndo === undefined || (noUndo as unknown) === true
      ? []
      : [`noUndo is ${JSON.stringify(noUndo)}; it must be true, or be left out.`]),
    ...(expects === undefined || (isObject(expects) && typeof expects['what'] === 'string' && 'condition' in expects)
      ? []
      : [`expects is ${JSON.stringify(expects)}; it must be an object with condition and what.`]),
    ...(noUndo && undo ? ['It has both an undo and noUndo. Leave out .undo(…) or .noUndo().'] : []),
  ];
}
