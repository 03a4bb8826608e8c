import type { LoadFunction } from '#runtime/function';

/** Loads a file of `functions/`: the source in the repository, the compiled form in the package. */
export const loadFunction: LoadFunction = (file) =>
  import(new URL(`../../../functions/${file}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href);
