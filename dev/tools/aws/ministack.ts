import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, cpSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cached } from '../cache.ts';
import { type AwsEmulator, mustBeFree, pathWithThisNode } from './emulator.ts';

/** ministack and its dependencies, each in one version. */
const requirements = fileURLToPath(new URL('ministack.txt', import.meta.url));

const readyWithinMs = 60_000;
const endsWithinMs = 5000;

/** Starts ministack on a free port. The first start installs it from PyPI into the user's cache folder. */
export async function startMinistack({ port }: { readonly port: number }): Promise<AwsEmulator> {
  await mustBeFree(port);
  const python = await install();
  const folder = mkdtempSync(join(tmpdir(), 'redress-ministack-'));
  const logFile = join(folder, 'log');
  const log = openSync(logFile, 'w');
  const child = spawn(python, ['-m', 'ministack'], {
    cwd: folder,
    env: environment(port, folder),
    stdio: ['ignore', log, log],
    // A function that runs while ministack stops would outlive it, so the whole process group is stopped.
    detached: true,
  });
  closeSync(log);
  const killAll = (signal: NodeJS.Signals): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // All processes of the group have ended.
    }
  };
  const atExit = () => killAll('SIGKILL');
  process.once('exit', atExit);
  const stop = async (): Promise<void> => {
    killAll('SIGTERM');
    await Promise.race([ended(child), new Promise((resolve) => setTimeout(resolve, endsWithinMs).unref())]);
    killAll('SIGKILL');
    await ended(child);
    process.off('exit', atExit);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };

  const endpoint = `http://127.0.0.1:${port}`;
  const trouble = await untilReady(child, endpoint);
  if (trouble === undefined) return { name: 'ministack', endpoint, stop };
  const lastLines = readFileSync(logFile, 'utf8').split('\n').slice(-20).join('\n');
  await stop();
  throw new Error(`ministack can't be started on port ${port}: ${trouble}\n${lastLines}`);
}

/** The functions that ministack runs see its whole environment, and must find no more than on AWS. */
const environment = (port: number, folder: string): NodeJS.ProcessEnv => ({
  PATH: pathWithThisNode(),
  HOME: process.env['HOME'],
  TMPDIR: folder,
  GATEWAY_PORT: String(port),
  BIND_HOST: '127.0.0.1',
  // The host in addresses that ministack returns, such as queue URLs: a name below localhost does not resolve everywhere.
  MINISTACK_HOST: '127.0.0.1',
});

async function untilReady(child: ChildProcess, endpoint: string): Promise<string | undefined> {
  let failure: string | undefined;
  child.once('error', (error) => (failure = error.message));
  child.once('exit', (code, signal) => (failure ??= `it ended with ${signal ?? `exit code ${code}`}.`));
  for (const deadline = performance.now() + readyWithinMs; performance.now() < deadline; ) {
    if (failure) return failure;
    const response = await fetch(`${endpoint}/_ministack/ready`).catch(() => undefined);
    if (response?.ok) return undefined;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return `it was not ready after ${readyWithinMs / 1000} seconds.`;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Returns the Python that has ministack. */
async function install(): Promise<string> {
  const wanted = readFileSync(requirements, 'utf8');
  const [, version = ''] = /^ministack==(.+)$/m.exec(wanted) ?? [];
  const pythonIn = (folder: string): string => join(folder, 'bin', 'python');
  const listIn = (folder: string): string => join(folder, 'installed.txt');
  const isComplete = (folder: string): boolean => existsSync(listIn(folder)) && readFileSync(listIn(folder), 'utf8') === wanted;
  const make = (folder: string): void => {
    process.stderr.write(`Installing ministack ${version} (once)...\n`);
    const systemPython = process.env['PYTHON'] || 'python3';
    const isRecent = 'import sys; sys.exit(sys.version_info < (3, 10))';
    command(systemPython, ['-c', isRecent], 'Python 3.10 or newer is needed: install it, or name it with PYTHON=...');
    command(systemPython, ['-m', 'venv', folder], 'Python needs its venv module (on Debian: apt-get install python3-venv).');
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
    command(pythonIn(folder), pip, 'Can PyPI be reached? pip reads its settings from PIP_INDEX_URL and pip.conf.');
    cpSync(requirements, listIn(folder));
  };
  return pythonIn(await cached(`ministack-${version}`, isComplete, make));
}

function command(program: string, args: readonly string[], remedy: string): void {
  try {
    execFileSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: process.env });
  } catch (error) {
    const { stderr, message } = error as { stderr?: Buffer; message: string };
    const said = stderr?.toString().trim().split('\n').slice(-10).join('\n') || message;
    throw new Error(`ministack can't be installed. ${remedy}\n${program} ${args.join(' ')}:\n${said}`);
  }
}
