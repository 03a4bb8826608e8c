import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { root, run } from './run.ts';

/**
 * `npm test [FILE ...]` runs every test that needs only this machine. jest runs the tests of the examples and of the CDK stack, because
 * users write such tests with jest; `node --test` runs the others (docs/decisions/0002-test-runner.md). Each file goes to its runner.
 */
const args = process.argv.slice(2);
const flags = args.filter((arg) => arg.startsWith('-'));
const wanted = args.filter((arg) => !arg.startsWith('-'));
const patterns = wanted.length > 0 ? wanted.map((file) => relative(root, resolve(file))) : ['{test,examples}/**/*.test.ts'];
const files = [...new Set(patterns.flatMap((pattern) => globSync(pattern, { cwd: root })))].sort();
const isForJest = (file: string): boolean => /^(examples|test\/infrastructure)\//.test(file);
const [forJest, forNode] = [files.filter(isForJest), files.filter((file) => !isForJest(file))];

interface Counts {
  readonly passed: number;
  readonly failed: number;
}

const folder = mkdtempSync(join(tmpdir(), 'redress-tests-'));
/** Returns the counts of a runner; undefined if it was interrupted before it wrote them. */
function countsIn(name: string): { readonly [count: string]: number } | undefined {
  const file = join(folder, name);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return text === '' ? undefined : JSON.parse(text);
}
const node = ['-C', 'redress-source', '--disable-warning=ExperimentalWarning'];
const options = { cwd: root, env: { LOG_LEVEL: 'off' } };
const results: { runner: string; code: number; counts: () => Counts | undefined }[] = [];

if (forNode.length > 0) {
  const code = await run(
    process.execPath,
    [
      ...node,
      '--import',
      './test/support/seed.ts',
      '--import',
      './test/support/time-limit.ts',
      '--test',
      // Node's default leaves one core unused: on two cores it would run one file at a time.
      `--test-concurrency=${availableParallelism()}`,
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      '--test-reporter=./dev/tools/test-counts.js',
      `--test-reporter-destination=${join(folder, 'node.json')}`,
      ...flags,
      ...forNode,
    ],
    options,
  );
  const counts = (): Counts | undefined => {
    const counted = countsIn('node.json');
    if (!counted) return undefined;
    const { tests = 0, passed = 0, skipped = 0, todo = 0 } = counted;
    return { passed, failed: tests - passed - skipped - todo };
  };
  results.push({ runner: 'node --test', code, counts });
}
if (forJest.length > 0) {
  const jest = [`${root}node_modules/jest/bin/jest.js`, '--json', `--outputFile=${join(folder, 'jest.json')}`, ...flags];
  // A test removes its bundles of functions when its process exits. Tests in jest do not see the exit, so they write into this folder.
  const env = { ...options.env, TMPDIR: folder };
  const code = await run(process.execPath, [...node, '--experimental-vm-modules', ...jest, '--runTestsByPath', ...forJest], {
    ...options,
    env,
  });
  const counts = (): Counts | undefined => {
    const counted = countsIn('jest.json');
    if (!counted) return undefined;
    const { numPassedTests = 0, numFailedTests = 0, numRuntimeErrorTestSuites = 0 } = counted;
    return { passed: numPassedTests, failed: numFailedTests + numRuntimeErrorTestSuites };
  };
  results.push({ runner: 'jest', code, counts });
}
if (results.length === 0) throw new Error(`No test file matches ${patterns.join(' ')}.`);

process.stdout.write('\n');
for (const { runner, counts } of results) {
  const counted = counts();
  process.stdout.write(`${runner.padEnd(11)}  ${counted ? `${counted.passed} passed, ${counted.failed} failed` : 'was interrupted'}\n`);
}
rmSync(folder, { recursive: true });
process.exitCode = results.find(({ code }) => code !== 0)?.code ?? 0;
