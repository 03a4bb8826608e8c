import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installed, root } from './run.ts';
import { oneOrder, startSystem } from './start-system.ts';

/** Installs the packed package as a user would: in an empty folder beside a copy of the example, type-checked and started there. */
const folder = mkdtempSync(join(tmpdir(), 'redress-package-'));
const node = `${root}node_modules/node/bin`;
const env = { ...process.env, PATH: `${node}:${process.env['PATH']}`, PORT: '0', REDRESS_SAMPLES: 'off' };
const inFolder = { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] as ['ignore', 'pipe', 'inherit'] };

try {
  execFileSync('npm', ['pack', '--pack-destination', folder, '--loglevel=error'], { ...inFolder, cwd: root });
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  const project = { name: 'orders', private: true, type: 'module' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', `./${tarball}`], inFolder);
  for (const name of ['orders', 'shop']) cpSync(`${root}examples/${name}`, join(folder, name), { recursive: true });

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
  execFileSync(installed('tsc'), ['-p', folder], { ...inFolder, stdio: 'inherit' });

  const system = await startSystem(join(folder, 'node_modules/.bin/redress'), ['start', 'orders/app.ts'], { cwd: folder, env });
  const token = execFileSync('npx', ['redress', 'token', '--role', 'client', '--client', 'user'], inFolder).toString().trim();
  const order = await oneOrder(system.url, token, JSON.parse(readFileSync(join(folder, 'orders/samples/ok.json'), 'utf8')));
  const code = await system.end();
  process.stdout.write(`${JSON.stringify({ package: tarball, types: 'good', order: order.outcome, exitCode: code })}\n`);
  if (order.processState !== 'Processed' || code !== 0) throw new Error(system.output());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
