import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A system that was started as a user starts it, and its output. */
export interface RunningSystem {
  readonly url: string;
  readonly output: () => string;
  /** Sends SIGTERM to the started process, not to its children. Resolves with the exit code. */
  end(): Promise<number | null>;
}

const readyWithinMs = 300_000;

/** Starts a command and waits for its `ready URL` line. */
export async function startSystem(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<RunningSystem> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const url = await readyUrl(child, () => output);
  return {
    url,
    output: () => output,
    async end() {
      child.kill('SIGTERM');
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    },
  };
}

async function readyUrl(child: ChildProcess, output: () => string): Promise<string> {
  const deadline = performance.now() + readyWithinMs;
  while (performance.now() < deadline) {
    const [, url] = /^ready (\S+)$/m.exec(output()) ?? [];
    if (url) return url;
    if (child.exitCode !== null) throw new Error(`The system ended with exit code ${child.exitCode} before it was ready:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  child.kill('SIGKILL');
  throw new Error(`The system was not ready within ${readyWithinMs / 1000} s:\n${output()}`);
}

/** Posts one order and waits until it has ended. */
export async function oneOrder(url: string, token: string, body: unknown): Promise<{ processState: string; outcome: string | null }> {
  const authorization = `Bearer ${token}`;
  const posted = await fetch(`${url}/orders`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'idempotency-key': `tools-${process.pid}-${Date.now()}` },
    body: JSON.stringify(body),
  });
  if (posted.status !== 202) throw new Error(`POST /orders: ${posted.status} ${await posted.text()}`);
  const { orderId } = (await posted.json()) as { orderId: string };
  for (let looks = 0; looks < 600; looks++) {
    const order = (await (await fetch(`${url}/orders/${orderId}`, { headers: { authorization } })).json()) as {
      processState: string;
      outcome: string | null;
    };
    if (order.processState === 'Processed' || order.processState === 'Error') return order;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`The order ${orderId} did not end within a minute.`);
}
