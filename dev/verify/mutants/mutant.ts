/** A plausible mistake: one place of the code, changed. */
export interface Mutant {
  readonly name: string;
  /** The mistake in words. If the protocol has no such place, the text names the nearest one. */
  readonly why: string;
  /** The path from the root of the repository. */
  readonly file: string;
  /** The text to replace. It occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Suites that catch it, if the simulation does not run this code. */
  readonly suites?: readonly string[];
}

/** Thrown if the code has changed, because a mutant that does not fit proves nothing. */
export class UnfittingMutant extends Error {
  override readonly name = 'UnfittingMutant';
}

/** Returns the text with the mistake in it. */
export function mutated({ name, file, find, replace }: Mutant, text: string): string {
  const [before, after, ...more] = text.split(find);
  if (before === undefined || after === undefined || more.length > 0)
    throw new UnfittingMutant(
      `The mutant "${name}" no longer fits ${file}: its text to find must occur there exactly once. Update \`find\` and \`replace\` to the present code.`,
    );
  return before + replace + after;
}
