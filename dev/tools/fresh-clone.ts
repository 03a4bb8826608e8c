import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './run.ts';
import { oneOrder, startSystem } from './start-system.ts';

/** Repeats the first steps of a newcomer: clone, `npm start`, one order, and stop, with an empty home folder. */
const folder = mkdtempSync(join(tmpdir(), 'redress-clone-'));
const home = mkdtempSync(join(tmpdir(), 'redress-home-'));
const clone = join(folder, 'redress');
// The machine's own Node and npm, which a newcomer has, instead of those of the project.
const path = (process.env['PATH'] ?? '')
  .split(':')
  .filter((each) => !each.includes('node_modules'))
  .join(':');
const env: NodeJS.ProcessEnv = {
  PATH: path,
  HOME: home,
  PORT: '0',
  ...kept(
    'npm_config_registry',
    'NPM_CONFIG_REGISTRY',
    'NPM_CONFIG_USERCONFIG',
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'NO_PROXY',
    'http_proxy',
    'https_proxy',
    'no_proxy',
    'NODE_EXTRA_CA_CERTS',
    'SSL_CERT_FILE',
  ),
};

try {
  execFileSync('git', ['clone', '--quiet', root, clone], { stdio: 'inherit' });
  for (const turn of ['fresh', 'warm']) {
    const startedAt = performance.now();
    const system = await startSystem('npm', ['start'], { cwd: clone, env });
    const ready = ((performance.now() - startedAt) / 1000).toFixed(1);
    const token = execFileSync('npx', ['redress', 'token', '--role', 'client', '--client', 'newcomer'], { cwd: clone, env })
      .toString()
      .trim();
    const order = await oneOrder(system.url, token, JSON.parse(readFileSync(join(clone, 'examples/orders/samples/ok.json'), 'utf8')));
    if (order.processState !== 'Processed') throw new Error(`The order ended ${JSON.stringify(order)}:\n${system.output()}`);
    const code = await system.end();
    const left = processesIn(clone);
    process.stdout.write(
      `${JSON.stringify({ start: turn, readySeconds: Number(ready), order: order.outcome, exitCode: code, processesLeft: left.length })}\n`,
    );
    if (code !== 0 || left.length > 0)
      throw new Error(`SIGTERM to npm gave exit code ${code} and left ${left.join(', ') || 'nothing'} running:\n${system.output()}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
  rmSync(home, { recursive: true, force: true });
}

function kept(...names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

/** Returns the processes that run in a folder, by Linux's own list. */
function processesIn(cwd: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === cwd;
    } catch {
      // The process has ended since the listing, or it is a zombie.
      return false;
    }
  });
}
