import { applyMutant } from './hook.ts';
import { classic, further } from './index.ts';

/** `suite.ts FILE [NAME]` runs a test file on a mutant, or on the unchanged code. The exit code is 1 if a test fails. */
const [file = '', name = ''] = process.argv.slice(2);
const mutant = [...classic, ...further].find((each) => each.name === name);
if (name !== '' && !mutant) throw new Error(`There is no mutant "${name}".`);
const isLoaded = mutant ? applyMutant(mutant) : () => true;
await import(new URL(`../../../${file}`, import.meta.url).href);
if (!isLoaded()) throw new Error(`${file} never loads ${mutant?.file}.`);
