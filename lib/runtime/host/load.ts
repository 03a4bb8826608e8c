import type { CreateFunction } from '#runtime/function';

/** Loads a file of `functions/`: the source in the repository, the compiled form in the package. */
export const loadFunction = (file: string): Promise<{ readonly create: CreateFunction }> =>
  import(new URL(`../../../functions/${file}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href);
