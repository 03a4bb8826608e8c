import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Embedded, openEmbedded } from '#adapters/sqlite/open';
import { openLocalIssuer } from '#api/local-issuer';
import { systemClock } from '#ports/clock';
import type { Calls } from './node.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const local = `${root}bin/local.ts`;
export const app = `${root}test/processes/app.ts`;

/** A timeout that suffices on the slowest machine; no test measures it. */
const patienceMs = 30_000;

/** A test, or a figure: it has an end with cleanup. */
export interface Ending {
  after(work: () => Promise<void>): void;
}

const endings = new WeakMap<Ending, (() => unknown)[]>();

/** Registers a cleanup, newest first: processes end before their files are deleted. */
export function atEnd(t: Ending, work: () => unknown): void {
  const works = endings.get(t) ?? [];
  if (works.length === 0) {
    t.after(async () => {
      for (const each of works.toReversed()) await each();
    });
  }
  endings.set(t, works);
  works.push(work);
}

export interface Process {
  readonly pid: number;
  readonly child: ChildProcess;
  /** The whole output so far. */
  readonly out: () => string;
  readonly err: () => string;
  /** Resolves with the first line of the output that matches. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

/** Runs a TypeScript file in a child process that does not outlive the test. */
export function run(t: Ending | undefined, file: string, variables: { readonly [name: string]: string } = {}): Process {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => ['PATH', 'HOME', 'NODE_COMPILE_CACHE'].includes(name)),
  );
  const child = spawn(process.execPath, ['-C', 'redress-source', '--disable-warning=ExperimentalWarning', file], {
    cwd: tmpdir(),
    env: { ...inherited, LOG_LEVEL: 'off', ...variables },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const texts = { out: '', err: '' };
  child.stdout?.on('data', (chunk) => (texts.out += chunk));
  child.stderr?.on('data', (chunk) => (texts.err += chunk));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  const process_: Process = {
    pid: child.pid ?? 0,
    child,
    out: () => texts.out,
    err: () => texts.err,
    ended,
    async line(pattern) {
      for (;;) {
        const found = pattern.exec(texts.out);
        if (found) return found;
        const [over] = await Promise.race([once(child.stdout as never, 'data').then(() => [false]), ended.then(() => [true])]);
        if (over && !pattern.test(texts.out)) throw new Error(`${file} ended without ${pattern}: ${texts.out}${texts.err}`);
      }
    },
    kill(signal) {
      child.kill(signal);
      return within(ended, `${file} does not end on ${signal}`);
    },
  };
  if (t) atEnd(t, () => (child.exitCode === null && child.signalCode === null ? process_.kill('SIGKILL') : undefined));
  return process_;
}

/** Awaits the promise, or rejects with an error that says what took too long. */
export async function within<T>(promise: Promise<T>, what: string, ms = patienceMs): Promise<T> {
  const over = new AbortController();
  const timeout = sleep(ms, undefined, { signal: over.signal }).then(
    () => Promise.reject(new Error(`${what} (${ms / 1000} s)`)),
    () => new Promise<never>(() => {}),
  );
  return Promise.race([promise, timeout]).finally(() => over.abort());
}

/** Polls until `look` returns a result. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  ms = patienceMs,
): Promise<T> {
  for (const end = Date.now() + ms; ; await sleep(20)) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`Not within ${ms / 1000} s: ${what}.`);
  }
}

export interface Site {
  readonly folder: string;
  /** The data folder, which does not exist yet. */
  readonly data: string;
  readonly variables: { readonly REDRESS_DATA: string; readonly EFFECTS: string; readonly [name: string]: string };
  /** The lines that the agents of `app.ts` have written: `begin KEY PID`, `done KEY PID`. */
  readonly effects: () => readonly string[];
  /** Opens the data folder in this process. */
  readonly open: () => Embedded;
}

/** A folder for the files of one test, deleted afterwards. */
export function site(t: Ending): Site {
  const folder = mkdtempSync(join(tmpdir(), 'redress-processes-'));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, 'data');
  const EFFECTS = join(folder, 'effects');
  let opened: Embedded | undefined;
  atEnd(t, () => opened?.database.close());
  return {
    folder,
    data,
    variables: { REDRESS_DATA: data, EFFECTS, PORT: '0', REDRESS_SAMPLES: 'off' },
    effects: () => linesOf(EFFECTS),
    open: () => (opened ??= openEmbedded(data, { clock: systemClock })),
  };
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}

/** Runs `npm start` without npm; resolves when it accepts orders. */
export async function startLocal(t: Ending, variables: { readonly [name: string]: string }): Promise<Process & { readonly url: string }> {
  const started = run(t, local, variables);
  const [, url = ''] = await within(started.line(/^ready (http:\S+)$/m), 'bin/local.ts is not ready');
  return { ...started, url };
}

/** Runs a program that ends by itself. Returns its exit code and the lines of its error message. */
export async function complaintOf(
  t: Ending,
  variables: { readonly [name: string]: string },
): Promise<{ readonly code: number | null; readonly lines: readonly string[] }> {
  const started = run(t, local, variables);
  const { code } = await within(started.ended, 'bin/local.ts goes on as if nothing were wrong');
  return { code, lines: started.err().trim().split('\n') };
}

export interface Node extends Process {
  call<N extends keyof Calls>(name: N, ...args: Parameters<Calls[N]>): ReturnType<Calls[N]>;
}

/** Starts one host without HTTP, which the test controls. */
export async function startNode(t: Ending, variables: { readonly [name: string]: string }): Promise<Node> {
  const started = run(t, `${root}test/processes/node.ts`, variables);
  await within(started.line(/^ready$/m), 'the node is not ready');
  const pending = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  started.child.on('message', ({ id, result, error }: { id: number; result?: unknown; error?: { message: string } }) => {
    if (error) pending.get(id)?.reject(Object.assign(new Error(error.message), error));
    else pending.get(id)?.resolve(result);
    pending.delete(id);
  });
  let calls = 0;
  return {
    ...started,
    call: ((name, ...args) => {
      const id = ++calls;
      const answered = new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
      started.child.send({ id, name, args });
      return within(answered, `the node does not answer ${name}`);
    }) as Node['call'],
  };
}

/** Returns numbers from 0 to 1, the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    const more = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((more ^ (more >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const tokenFor = (data: string, role: 'client' | 'operator'): Promise<string> =>
  openLocalIssuer(data).sign({ role, ...(role === 'client' ? { client: 'acme' } : {}) });

/** Submits an order over HTTP and returns its id. */
export async function post(url: string, data: string, body: object, key: string): Promise<string> {
  const headers = { authorization: `Bearer ${await tokenFor(data, 'client')}`, 'content-type': 'application/json', 'idempotency-key': key };
  const response = await fetch(`${url}/orders`, { method: 'POST', headers, body: JSON.stringify(body) });
  assert.equal(response.status, 202, await response.clone().text());
  return ((await response.json()) as { orderId: string }).orderId;
}

export const work = ({ ms = 0, refuse = false } = {}) => ({ ms, refuse });

/** Waits until the order reaches this state, as seen from this process. */
export const reaches = ({ store }: Embedded, orderId: string, processState: string) =>
  until(`the order is ${processState}`, async () => {
    const found = await store.load(orderId);
    return found?.state.processState === processState ? found.state : undefined;
  });
