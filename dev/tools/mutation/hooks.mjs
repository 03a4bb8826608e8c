import { registerHooks } from 'node:module';
import { prologueOf } from './forgetful.mjs';

const here = (file) => new URL(file, import.meta.url).href;

/** Replacements for imports, and the first lines of modules of the core. */
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'node:test') return { url: here('collector.mjs'), shortCircuit: true };
    if (specifier === 'fast-check') return { url: here('fast-check.mjs'), shortCircuit: true };
    // The replacement lies outside the tested copy of the project, so it resolves imports as a file of the copy would.
    if (specifier === 'fast-check?real')
      return next('fast-check', { ...context, parentURL: new URL('.', `file://${process.cwd()}/`).href });
    return next(specifier, context);
  },
  load(url, context, next) {
    const module = next(url, context);
    return url.includes('/lib/core/') ? { ...module, source: prologueOf(url) + module.source } : module;
  },
});
