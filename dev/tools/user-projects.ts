import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { comparedWith, unexpecting } from './mistakes.ts';
import { otherNodes } from './other-node.ts';
import { root } from './run.ts';

/**
 * Projects of users, beside the packed package: its types under each compiler and setting, and its test kit under each test
 * runner and version of Node. Every mistake of a workflow must be reported by name in each project, and nothing else.
 */
const template = `${root}dev/tools/user-projects/`;
const folder = mkdtempSync(join(tmpdir(), 'redress-projects-'));
const node = process.execPath;
const started = performance.now();
const failures: string[] = [];
const rehearsalFiles = ['workflow.ts', 'rehearsal.test.ts'];
const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
const projectFiles = [...rehearsalFiles, 'workflow.test.ts'];

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

const compilers = { 'TypeScript 5.9': 'typescript-5/bin/tsc', 'TypeScript 7': 'typescript-7/bin/tsc' } as const;
const modules = {
  node16: { module: 'node16' },
  nodenext: { module: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
} as const;
const strict = { target: 'es2024', strict: true, types: ['node'], noEmit: true, allowImportingTsExtensions: true, resolveJsonModule: true };

/** Kinds of strictness, each with the module setting whose project has a stack. */
const strictness = {
  strict: { options: {}, withStack: { module: 'nodenext', options: {} } },
  'strict, exactOptionalPropertyTypes': {
    options: { exactOptionalPropertyTypes: true },
    withStack: { module: 'bundler', options: { skipLibCheck: true } },
  },
} as const;

interface Setting {
  readonly compiler: keyof typeof compilers;
  readonly module: keyof typeof modules;
  readonly kind: keyof typeof strictness;
  /**
   * Whether a stack of aws-cdk-lib is part of the project. Its types are large, so few settings have them. They do not compile under
   * `exactOptionalPropertyTypes` themselves, so such a project needs `skipLibCheck`.
   */
  readonly hasStack: boolean;
}

const keysOf = <T extends object>(record: T): readonly (keyof T)[] => Object.keys(record) as (keyof T)[];
const settings = keysOf(compilers).flatMap((compiler) =>
  keysOf(strictness).flatMap((kind) =>
    keysOf(modules).map((module): Setting => ({ compiler, module, kind, hasStack: module === strictness[kind].withStack.module })),
  ),
);

/** The settings with the large types of the stack come first, so that no long one remains at the end. */
const longestFirst = settings.toSorted((a, b) => Number(b.hasStack) - Number(a.hasStack));

/** A test runner: how it is started in the folder of a project, and the module that its `test` function comes from. */
interface Runner {
  readonly source: string;
  readonly type: 'commonjs' | 'module';
  args(at: string): readonly string[];
}

const jest = (at: string) => ['node_modules/jest/bin/jest.js', '--config', join(at, 'jest.config.json')];
const runners: { readonly [name: string]: Runner } = {
  'node --test': { source: 'node:test', type: 'module', args: (at) => ['--test', join(at, '*.test.ts')] },
  'jest, CommonJS': { source: '@jest/globals', type: 'commonjs', args: jest },
  'jest, ES modules': { source: '@jest/globals', type: 'module', args: (at) => ['--experimental-vm-modules', ...jest(at)] },
  vitest: {
    source: 'vitest',
    type: 'module',
    args: (at) => ['node_modules/vitest/vitest.mjs', 'run', '--testTimeout=60000', '--root', at],
  },
};

try {
  const [others] = await Promise.all([otherNodes({ install: true }), installDependencies(), packRedress()]);
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  report('packed, and dependencies linked', '', performance.now() - started);
  await promisify(execFile)('npm', ['install', ...quietly, '--prefer-offline', `./${tarball}`], { cwd: folder });
  report('installed', '', performance.now() - started);

  const source = readFileSync(`${root}test/examples/negative.types.ts`, 'utf8');
  mkdirSync(join(folder, 'types'));
  writeFileSync(join(folder, 'types/package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'types/negative.ts'), unexpecting(source));
  cpSync(`${root}examples`, join(folder, 'types/examples'), { recursive: true });
  for (const file of [...projectFiles, 'stack.ts']) copyFileSync(`${template}${file}`, join(folder, 'types', file));

  const nodes = [{ name: process.version, execPath: node }, ...others];
  const all = Object.entries(runners);
  const attempts = [
    ...longestFirst.map((setting, index) => () => compile(setting, source, join(folder, 'types', `tsconfig.${index}.json`))),
    ...nodes.flatMap(({ name, execPath }) =>
      all.map(
        ([title, runner]) =>
          () =>
            test(`${title}, ${name}`, runner, projectFiles, execPath),
      ),
    ),
    // A rehearsal loads and runs without SQLite.
    ...all.map(
      ([title, runner]) =>
        () =>
          test(`${title}, without SQLite`, runner, rehearsalFiles, node, '--no-experimental-sqlite'),
    ),
  ];
  const next = async (): Promise<void> => {
    for (let attempt = attempts.shift(); attempt; attempt = attempts.shift()) await attempt();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, next));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${failures.length} failed, after ${((performance.now() - started) / 1000).toFixed(0)} s\n`);
if (failures.length > 0) process.exitCode = 1;

async function packRedress(): Promise<void> {
  await promisify(execFile)('npm', ['pack', '--pack-destination', folder, '--loglevel=error'], { cwd: root });
}

/**
 * Links the dependencies of the projects into their folder. npm installs them once for each lockfile. The lockfile of the installed
 * packages is a copy, because npm writes it in place when it adds the packed package.
 */
async function installDependencies(): Promise<void> {
  const cache = `${root}node_modules/.cache/user-projects/`;
  const lockfiles = ['package.json', 'package-lock.json'];
  const marker = 'node_modules/.package-lock.json';
  const wanted = lockfiles.map((file) => readFileSync(template + file, 'utf8')).join('\n');
  const record = `${cache}installed`;
  if (!existsSync(record) || readFileSync(record, 'utf8') !== wanted) {
    rmSync(cache, { recursive: true, force: true });
    mkdirSync(cache, { recursive: true });
    for (const file of lockfiles) copyFileSync(template + file, cache + file);
    await promisify(execFile)('npm', ['install', ...quietly], { cwd: cache });
    writeFileSync(record, wanted);
  }
  for (const file of lockfiles) copyFileSync(template + file, join(folder, file));
  await promisify(execFile)('cp', ['-al', `${cache}node_modules`, folder]).catch(() =>
    cpSync(`${cache}node_modules`, join(folder, 'node_modules'), { recursive: true, verbatimSymlinks: true }),
  );
  rmSync(join(folder, marker));
  copyFileSync(cache + marker, join(folder, marker));
}

/** Compiles the project: it succeeds if the compiler reports each mistake by name, and nothing else. */
function compile({ compiler, module, kind, hasStack }: Setting, source: string, config: string): Promise<void> {
  return attempt(`types: ${compiler}, ${module}, ${kind}${hasStack ? ', aws-cdk-lib' : ''}`, async () => {
    const { options, withStack } = strictness[kind];
    const compilerOptions = { ...strict, ...modules[module], ...options, ...(hasStack ? withStack.options : {}) };
    // Tests of examples import samples with an import attribute, which node16 does not have.
    const exclude = [...(module === 'node16' ? ['examples/**/*.test.ts'] : []), ...(hasStack ? [] : ['stack.ts'])];
    writeFileSync(config, JSON.stringify({ compilerOptions, include: ['*.ts', 'examples'], exclude }));
    const args = [join(folder, 'node_modules', compilers[compiler]), '-p', config, '--pretty', 'false'];
    const output = await run(node, args).then(
      () => '',
      ({ stdout, stderr }: Output) => `${stdout}${stderr}`,
    );
    const { unnamed, others } = comparedWith(output, source, 'types/negative.ts');
    return [...unnamed.map(({ what, line }) => `negative.types.ts:${line} compiles, or its message has another name: ${what}`), ...others];
  });
}

/** Runs tests in a project of their own, with the `test` function of the runner. */
async function test(title: string, { source, type, args }: Runner, files: readonly string[], execPath: string, nodeOptions = '') {
  const at = mkdtempSync(join(folder, 'runner-'));
  // The settings that docs/guides/your-own-project.md shows.
  const settings = JSON.parse(readFileSync(`${template}onboarding/jest.config.json`, 'utf8')) as object;
  const jestConfig = { ...settings, testTimeout: 60_000, ...(type === 'module' ? { extensionsToTreatAsEsm: ['.ts'] } : {}) };
  writeFileSync(join(at, 'package.json'), JSON.stringify({ type }));
  writeFileSync(join(at, 'jest.config.json'), JSON.stringify(jestConfig));
  for (const file of files) {
    const text = readFileSync(`${template}${file}`, 'utf8').replace("from 'node:test'", `from '${source}'`);
    writeFileSync(join(at, file), text);
  }
  await attempt(`tests: ${title}`, () =>
    run(execPath, args(at), nodeOptions).then(
      () => [],
      ({ stdout, stderr }: Output) => [stdout, stderr],
    ),
  );
}

/** Reports the problems that an attempt finds. */
async function attempt(title: string, work: () => Promise<readonly string[]>): Promise<void> {
  const since = performance.now();
  const problems = await work();
  if (problems.length > 0) failures.push(title);
  report(title, problems.join('\n'), performance.now() - since);
}

/** Rejects with the output of a program that fails. */
async function run(file: string, args: readonly string[], nodeOptions = ''): Promise<void> {
  const env = { ...process.env, NODE_OPTIONS: nodeOptions, FORCE_COLOR: '0' };
  await promisify(execFile)(file, args, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 });
}

function report(title: string, problems: string, ms: number) {
  process.stdout.write(`${problems === '' ? 'good' : 'FAILED'}  ${title}  (${(ms / 1000).toFixed(1)} s)\n`);
  if (problems !== '') process.stdout.write(`${problems.slice(0, 4_000)}\n`);
}
