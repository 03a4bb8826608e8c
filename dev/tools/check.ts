import { installed, run } from './run.ts';

/** `npm run check` runs all checks even after a failure, so that one run shows everything: types, style, arrows, unused code. */
const steps: readonly (readonly [string, string, readonly string[]])[] = [
  ['types', installed('tsc'), ['-p', '.']],
  ['types of the console', installed('tsc'), ['-p', 'console']],
  ['style', installed('biome'), ['check', '.']],
  ['arrows', installed('depcruise'), ['--config', '.dependency-cruiser.mjs', 'lib', 'functions', 'bin', 'examples', 'dev']],
  // With its outDir, knip maps compiled files in `dist` back to their sources.
  ['unused', installed('knip'), ['--tsConfig', 'tsconfig.build.json']],
];

const failed: string[] = [];
for (const [name, command, args] of steps) {
  process.stdout.write(`check ${name}\n`);
  if ((await run(command, args)) !== 0) failed.push(name);
}
process.stdout.write(failed.length === 0 ? 'check: all good\n' : `check: ${failed.join(', ')} failed\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
