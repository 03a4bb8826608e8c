/** An invalid definition. The message names every problem with its place. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
}
