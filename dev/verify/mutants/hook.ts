import { registerHooks } from 'node:module';
import { type Mutant, mutated } from './mutant.ts';

const root = new URL('../../../', import.meta.url);

/**
 * From now on every import of the file gets the text with the mistake; the file on disk stays unchanged. Call this before anything
 * of the library is loaded. The returned function says whether the file has been loaded since.
 */
export function applyMutant(mutant: Mutant): () => boolean {
  const url = new URL(mutant.file, root).href;
  let loaded = false;
  registerHooks({
    load(at, context, nextLoad) {
      const module = nextLoad(at, context);
      if (at !== url) return module;
      loaded = true;
      return { ...module, source: mutated(mutant, String(module.source)) };
    },
  });
  return () => loaded;
}
