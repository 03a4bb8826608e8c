import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process of a product, which the incident kills without warning and starts again. */
export class Killable {
  #child;

  /** `isReady` resolves to true as soon as the process answers. `log`: the file of its output. */
  constructor({ program, args, env = {}, cwd, log, isReady }) {
    Object.assign(this, { program, args, env, cwd, log, isReady });
  }

  async start() {
    const out = openSync(this.log, 'a');
    this.#child = spawn(this.program, this.args, { cwd: this.cwd, env: { ...process.env, ...this.env }, stdio: ['ignore', out, out] });
    for (const child = this.#child; !(await this.isReady().catch(() => false)); await sleep(100))
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${this.program} did not start: see ${this.log}`);
  }

  async end(signal) {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

/** Runs a command to its end, and resolves to what it printed and its exit code. */
export async function command(program, args, { env = {}, cwd } = {}) {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (errors += chunk));
  const [code] = await once(child, 'close');
  return { code, out, errors };
}

/** Does the work for each entry of `all`, for `atOnce` entries at a time. */
export async function inParallel(all, atOnce, work) {
  let next = 0;
  const loop = async () => {
    while (next < all.length) await work(all[next++]);
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
}

/** Repeats the work while it fails, as a client does whose server is down. */
export async function insistently(work, pauseMs = 300) {
  for (let tries = 1; ; tries++)
    try {
      return await work();
    } catch (error) {
      if (tries > 400) throw error;
      await sleep(pauseMs);
    }
}
