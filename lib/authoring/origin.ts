import type { Shape } from './activity.ts';
import { placeIn } from './call-site.ts';

const origin = Symbol('origin of a step');

/** The function call in the author's code that made an activity. `.named(…)`, `.undo(…)` and the like keep the origin. */
export interface Origin {
  readonly name: string;
  readonly stack: string | undefined;
}

/** The steps made so far by the function that is being recorded; undefined outside of a recording. */
let made: Origin[] | undefined;

/** Adds to a shape the call that made it, and notes that call in `made`. A variant of a step keeps its origin, and is not noted again. */
export function withOrigin<S extends { readonly name: string }>(shape: S): S {
  if (originOf(shape)) return shape;
  const noted = withPlace(shape);
  const from = originOf(noted);
  if (from) made?.push(from);
  return noted;
}

/** Adds to the shape of a composite the call that made it. The composite may stay unused: only its steps must be part of the workflow. */
export const withPlace = <S extends { readonly name: string }>(shape: S): S =>
  originOf(shape) ? shape : { ...shape, [origin]: { name: shape.name, stack: new Error('origin').stack } };

export const originOf = (shape: object): Origin | undefined => (shape as { readonly [origin]?: Origin })[origin];

/** Runs the function of a workflow. Returns its result, and the steps that it has made. */
export function recordingSteps<T>(build: () => T): { readonly built: T; readonly steps: readonly Origin[] } {
  const before = made;
  const steps: Origin[] = [];
  made = steps;
  try {
    return { built: build(), steps };
  } finally {
    made = before;
  }
}

/**
 * Runs a function that makes a part of a step or a loop, such as its undo or its turn. The function runs again for each `.named(…)`, and
 * only its last result becomes part of the workflow. So only the steps that its result lacks count as made.
 */
export function recordingPart(build: () => Shape): Shape {
  const { built, steps } = recordingSteps(build);
  made?.push(...missingIn(built, steps));
  return built;
}

/** Returns the steps that are not part of a recorded shape. */
export function missingIn(recorded: unknown, steps: readonly Origin[]): readonly Origin[] {
  const present = new Set([...partsOf(recorded)].map(originOf));
  return steps.filter((step) => !present.has(step));
}

/** Returns all objects within a value, from the outside in. */
export function* partsOf(value: unknown): Generator<object> {
  if (typeof value !== 'object' || value === null) return;
  yield value;
  for (const part of Object.values(value)) yield* partsOf(part);
}

/** Returns the place of the call in the user's code: `app.ts:12:5`. */
export const placeOf = ({ stack }: Origin): string | undefined => placeIn(stack);
