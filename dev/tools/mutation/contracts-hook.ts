import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { root } from '../run.ts';
import { sourcesFile } from './simulation/plan.ts';

/** Loads the code with the one change that `MUTANT` names, before a test runs. */
Object.assign(globalThis, { mutation: { active: process.env['MUTANT'], hits: undefined, hit: () => true } });

const sources = JSON.parse(readFileSync(sourcesFile, 'utf8')) as { readonly [file: string]: string };
const byUrl = new Map(Object.entries(sources).map(([file, source]) => [pathToFileURL(`${root}${file}`).href, source]));
registerHooks({
  load(url, context, next) {
    const source = byUrl.get(url);
    return source === undefined ? next(url, context) : { format: 'module-typescript', source, shortCircuit: true };
  },
});
