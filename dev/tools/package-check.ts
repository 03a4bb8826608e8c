import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { clientsAt, createTable } from '../../test/adapters/aws/support.ts';
import { startDynoxide } from '../../test/support/emulators.ts';
import { installed, root } from './run.ts';
import { oneOrder, startSystem } from './start-system.ts';

/**
 * Installs the packed package as a user would. The sample app starts from the package; the bill of materials of the package names what npm has
 * installed; the command of the package restores a table of an emulator; a copy of the example compiles and runs; and a project from an empty folder
 * works as docs/guides/your-own-project.md says, command by command.
 */
const folder = mkdtempSync(join(tmpdir(), 'redress-package-'));
const node = dirname(process.execPath);
const env = { ...process.env, PATH: `${node}:${process.env['PATH']}`, PORT: '0', REDRESS_SAMPLES: 'off' };
const quietly = ['--no-audit', '--no-fund', '--loglevel=error'];
const command = join(folder, 'node_modules/.bin/redress');
const sample = join(folder, 'node_modules/redress/examples/orders/samples/ok.json');

try {
  execFileSync('npm', ['pack', '--pack-destination', folder, '--loglevel=error'], { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'orders', private: true, type: 'module' }));
  run('npm', ['install', ...quietly, `./${tarball}`]);
  report({ package: tarball, sample: await orderIn([]) });

  report({ bill: checkBill() });
  report({ restore: await restored() });

  for (const name of ['orders', 'shop']) cpSync(`${root}examples/${name}`, join(folder, name), { recursive: true });
  compileExample();
  report({ types: 'good', example: await orderIn(['orders/app.ts']) });

  report({ ownProject: await ownProject(tarball) });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Starts an app, by default the sample app, with the installed command, and returns the outcome of one order. */
async function orderIn(app: readonly string[]): Promise<string | null> {
  const data = mkdtempSync(join(folder, 'data-'));
  const system = await startSystem(command, ['start', ...app, '--data', data], { cwd: folder, env });
  const token = run(command, ['token', '--role', 'client', '--client', 'user', '--data', data]).trim();
  const order = await oneOrder(system.url, token, JSON.parse(readFileSync(sample, 'utf8')));
  const code = await system.end();
  if (order.processState !== 'Processed' || code !== 0) throw new Error(system.output());
  return order.outcome;
}

/** Compares the package's bill of materials with what npm has installed. Returns the number of its packages. */
function checkBill(): number {
  const read = (path: string): unknown => JSON.parse(readFileSync(join(folder, 'node_modules', path), 'utf8'));
  const { components } = read('redress/dist/sbom.cdx.json') as { components: { name: string; hashes?: unknown; licenses?: unknown }[] };
  const { peerDependencies } = read('redress/package.json') as { peerDependencies: { [name: string]: string } };
  const { packages } = read('.package-lock.json') as { packages: { [path: string]: unknown } };
  const names = Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, ''));
  const expected = new Set(names.filter((name) => name !== 'redress' && !peerDependencies[name]));
  const found = new Set(components.filter(({ hashes, licenses }) => hashes && licenses).map(({ name }) => name));
  const different = [...expected, ...found].filter((name) => !expected.has(name) || !found.has(name));
  if (different.length > 0 || found.size === 0) throw new Error(`The bill of materials is wrong about ${different.join(', ')}.`);
  return found.size;
}

/** Restores a table of an emulator with the installed command, as the runbook says. Returns its output. */
async function restored(): Promise<string> {
  const { endpoint, stop } = await startDynoxide();
  const { dynamodb } = clientsAt({ dynamodb: endpoint });
  try {
    const from = await createTable(dynamodb, 'redress-restored');
    const to = await createTable(dynamodb, 'redress');
    const Item = { pk: { S: 'ORDER#ord_1' }, sk: { S: 'STATE' }, rev: { N: '7' }, epoch: { N: '2' } };
    await dynamodb.send(new PutItemCommand({ TableName: from, Item }));
    const aws = {
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    };
    const { stdout } = await promisify(execFile)(command, ['restore', from, to], { cwd: folder, env: { ...env, ...aws } });
    const { Items: [state] = [] } = await dynamodb.send(new ScanCommand({ TableName: to }));
    if (Number(state?.['rev']?.N) <= 7) throw new Error(`The order has not continued with unused numbers: ${JSON.stringify(state)}`);
    return stdout.trim();
  } finally {
    dynamodb.destroy();
    await stop();
  }
}

function compileExample(): void {
  const types = join(folder, 'node_modules/@types');
  mkdirSync(types, { recursive: true });
  for (const name of ['node', 'aws-lambda']) cpSync(`${root}node_modules/@types/${name}`, join(types, name), { recursive: true });
  cpSync(`${root}node_modules/undici-types`, join(folder, 'node_modules/undici-types'), { recursive: true });
  const { compilerOptions } = JSON.parse(readFileSync(`${root}tsconfig.json`, 'utf8')) as { compilerOptions: { [name: string]: unknown } };
  const { customConditions: _, skipLibCheck: __, ...options } = compilerOptions;
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['orders', 'shop'], exclude: ['**/*.test.ts'] }),
  );
  run(installed('tsc'), ['-p', folder]);
}

/** Runs the commands of the page in the project whose files it shows: those before the start, the start, and those after it. */
async function ownProject(tarball: string): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), 'redress-own-'));
  try {
    const files = `${root}dev/tools/user-projects/onboarding`;
    // The stack comes last, as on the page: it compiles only with the packages of the CDK.
    cpSync(files, project, { recursive: true, filter: (file) => !file.endsWith('stack.ts') });
    cpSync(join(folder, tarball), join(project, tarball));
    const page = readFileSync(`${root}docs/guides/your-own-project.md`, 'utf8');
    const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
    const start = blocks.findIndex((block) => block.trim() === 'npm start');
    const bash = (parts: readonly string[], url = '') =>
      execFileSync('bash', ['-euo', 'pipefail', '-c', parts.join('\n').replaceAll('http://127.0.0.1:3000', url)], {
        cwd: project,
        env: { ...env, REDRESS_URL: url, npm_config_audit: 'false', npm_config_fund: 'false', npm_config_loglevel: 'error' },
        stdio: ['ignore', 'pipe', 'inherit'],
      }).toString();

    bash(blocks.slice(0, start));
    const system = await startSystem('npm', ['start'], { cwd: project, env });
    cpSync(join(files, 'stack.ts'), join(project, 'stack.ts'));
    const output = bash([...blocks.slice(start + 1), 'npm run check'], system.url);
    const code = await system.end();
    for (const seen of [/Waits for the signal approval/, /"desk":"desk-3"|desk-3/, /"orderId":"ord_/])
      if (!seen.test(output)) throw new Error(`The page does not do what it says: ${seen} is missing in\n${output}`);
    if (code !== 0) throw new Error(system.output());
    return `${blocks.length} blocks of commands ran`;
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

function run(file: string, args: readonly string[]): string {
  return execFileSync(file, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] }).toString();
}

function report(seen: object): void {
  process.stdout.write(`${JSON.stringify(seen)}\n`);
}
