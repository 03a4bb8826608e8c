import { availableParallelism } from 'node:os';
import { root, run } from './run.ts';

/** `npm test [FILE ...]` runs every test that needs only this machine. */
const files = process.argv.slice(2);
const patterns = files.length > 0 ? files : ['test/**/*.test.ts', 'examples/**/*.test.ts'];
process.exitCode = await run(
  process.execPath,
  [
    '-C',
    'redress-source',
    '--disable-warning=ExperimentalWarning',
    '--import',
    './test/support/seed.ts',
    '--test',
    // Node's default leaves one core unused: on two cores it would run one file at a time.
    `--test-concurrency=${availableParallelism()}`,
    '--test-reporter=spec',
    ...patterns,
  ],
  { cwd: root, env: { LOG_LEVEL: 'off' } },
);
