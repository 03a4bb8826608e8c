import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { otherNodes } from './other-node.ts';
import { root } from './run.ts';

/**
 * Projects of users, beside the packed package: its types under several compilers and settings, and its test kit under
 * several test runners and versions of Node. A workflow with a mistake must compile in none of them.
 */
const template = `${root}dev/tools/user-projects/`;
const folder = mkdtempSync(join(tmpdir(), 'redress-projects-'));
const node = process.execPath;
const started = performance.now();
const failures: string[] = [];

const compilers = { 'TypeScript 5.9': 'typescript-5/bin/tsc', 'TypeScript 7': 'typescript-7/bin/tsc' } as const;
const modules = {
  node16: { module: 'node16' },
  nodenext: { module: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
} as const;
const strict = { target: 'es2024', strict: true, types: ['node'], noEmit: true, allowImportingTsExtensions: true, resolveJsonModule: true };

/** Compiler, module setting, further options. The types of aws-cdk-lib do not compile under `exactOptionalPropertyTypes` themselves. */
const settings: readonly (readonly [compiler: keyof typeof compilers, module: keyof typeof modules, more: object])[] = [
  ['TypeScript 5.9', 'nodenext', {}],
  ['TypeScript 5.9', 'bundler', { exactOptionalPropertyTypes: true, skipLibCheck: true }],
  ['TypeScript 7', 'node16', {}],
  ['TypeScript 7', 'nodenext', { exactOptionalPropertyTypes: true, skipLibCheck: true }],
  ['TypeScript 7', 'bundler', {}],
];

try {
  execFileSync('npm', ['pack', '--pack-destination', folder, '--loglevel=error'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(`${template}${file}`, join(folder, file));
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', `./${tarball}`];
  execFileSync('npm', install, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  report('installed', [], performance.now() - started);

  mkdirSync(join(folder, 'types'));
  writeFileSync(join(folder, 'types/package.json'), '{ "type": "module" }');
  cpSync(`${root}examples`, join(folder, 'types/examples'), { recursive: true });
  copyFileSync(`${root}test/examples/negative.types.ts`, join(folder, 'types/negative.types.ts'));
  for (const file of ['workflow.ts', 'workflow.test.ts', 'stack.ts']) copyFileSync(`${template}${file}`, join(folder, 'types', file));
  for (const [compiler, module, more] of settings)
    await attempt(`types: ${[compiler, module, 'strict', ...Object.keys(more)].join(', ')}`, () => {
      const config = join(folder, 'types', 'tsconfig.json');
      const compilerOptions = { ...strict, ...modules[module], ...more };
      // Tests of examples import samples with an import attribute, which node16 does not have.
      const exclude = module === 'node16' ? ['examples/**/*.test.ts'] : [];
      writeFileSync(config, JSON.stringify({ compilerOptions, include: ['*.ts', 'examples'], exclude }));
      return run(node, [join(folder, 'node_modules', compilers[compiler]), '-p', config], folder);
    });

  const nodes = [{ name: process.version, execPath: node }, ...(await otherNodes({ install: process.env['OTHER_NODES'] === '1' }))];
  for (const { name, execPath } of nodes) {
    await runner(`node --test, ${name}`, 'node:test', 'module', execPath, (at) => ['--test', join(at, 'workflow.test.ts')]);
    const jest = 'node_modules/jest/bin/jest.js';
    await runner(`jest, CommonJS, ${name}`, '@jest/globals', 'commonjs', execPath, (at) => [
      jest,
      '--config',
      join(at, 'jest.config.json'),
    ]);
    await runner(`jest, ES modules, ${name}`, '@jest/globals', 'module', execPath, (at) => [
      '--experimental-vm-modules',
      jest,
      '--config',
      join(at, 'jest.config.json'),
    ]);
    await runner(`vitest, ${name}`, 'vitest', 'module', execPath, (at) => [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--testTimeout=60000',
      '--root',
      at,
    ]);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (failures.length > 0) process.exitCode = 1;

/** Runs the tests of the project in a folder of their own, with the `test` function of the runner. */
async function runner(title: string, source: string, type: string, execPath: string, args: (at: string) => readonly string[]) {
  const at = mkdtempSync(join(folder, 'runner-'));
  // The settings that docs/guides/your-own-project.md shows.
  const settings = JSON.parse(readFileSync(`${template}onboarding/jest.config.json`, 'utf8')) as object;
  const jest = { ...settings, ...(type === 'module' ? { extensionsToTreatAsEsm: ['.ts'] } : {}) };
  writeFileSync(join(at, 'package.json'), JSON.stringify({ type }));
  writeFileSync(join(at, 'jest.config.json'), JSON.stringify(jest));
  copyFileSync(`${template}workflow.ts`, join(at, 'workflow.ts'));
  const test = readFileSync(`${template}workflow.test.ts`, 'utf8').replace("from 'node:test'", `from '${source}'`);
  writeFileSync(join(at, 'workflow.test.ts'), test);
  await attempt(`tests: ${title}`, () => run(execPath, args(at), folder));
}

async function attempt(title: string, work: () => Promise<string>) {
  const since = performance.now();
  try {
    await work();
    report(title, [], performance.now() - since);
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    failures.push(title);
    report(title, [stdout, stderr], performance.now() - since);
  }
}

async function run(file: string, args: readonly string[], cwd: string): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '', FORCE_COLOR: '0' };
  return (await promisify(execFile)(file, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 })).stdout;
}

function report(title: string, output: readonly string[], ms: number) {
  process.stdout.write(`${output.length === 0 ? 'good' : 'FAILED'}  ${title}  (${(ms / 1000).toFixed(1)} s)\n`);
  for (const each of output) process.stdout.write(each.slice(0, 4_000));
}
