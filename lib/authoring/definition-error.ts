/** An invalid definition. The message names every problem with its place. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
}

/** Checks an argument that TypeScript may not have seen. @throws TypeError with an example of the call. */
export function expectFunction(value: unknown, example: string): void {
  if (typeof value !== 'function') throw new TypeError(`Expected a function, got ${typeof value}. Write ${example}.`);
}
