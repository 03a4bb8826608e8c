/** A mistake that somebody might make: one place of the code, changed. */
export interface Mutant {
  readonly name: string;
  /** Which mistake it is, in words; where the protocol has no such place, what stands for it. */
  readonly why: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Suites that catch it where the simulation does not run this code at all. */
  readonly suites?: readonly string[];
}

/** A change that the code has outgrown proves nothing. */
export class UnfittingMutant extends Error {
  override readonly name = 'UnfittingMutant';
}

/** The text with the mistake in it. */
export function mutated({ name, file, find, replace }: Mutant, text: string): string {
  const [before, after, ...more] = text.split(find);
  if (before === undefined || after === undefined || more.length > 0)
    throw new UnfittingMutant(`The mutant "${name}" no longer fits ${file}: what it changes must stand there exactly once.`);
  return before + replace + after;
}
