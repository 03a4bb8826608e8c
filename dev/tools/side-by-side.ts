import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLocalIssuer } from '#api/local-issuer';
import { startShop } from '../../examples/shop/server.ts';
import { type AwsEmulator, environmentAt, freePort, localOutputs } from './aws/emulator.ts';
import { leftovers } from './aws/leftovers.ts';
import { startLocalStack } from './aws/localstack.ts';
import { startMinistack } from './aws/ministack.ts';
import { root, run } from './run.ts';

/**
 * `sh bin/run dev/tools/side-by-side.ts [ministack|localstack]` deploys the app twice into one account and region, under two names. An order
 * must complete in each deployment, and the other deployment must not know it. Prints one line of JSON (A11).
 */
const startEmulator = process.argv[2] === 'localstack' ? startLocalStack : startMinistack;
const emulator = await startEmulator({ port: await freePort() });
assert.ok(emulator, 'There is nothing to start LocalStack with.');
const data = mkdtempSync(join(tmpdir(), 'redress-side-by-side-'));
const shopPort = await freePort();
const shop = await startShop({ port: shopPort });
try {
  process.stdout.write(`${JSON.stringify(await play(emulator))}\n`);
} finally {
  await shop.close();
  await emulator.stop();
  rmSync(data, { recursive: true });
}

async function play({ name: server, endpoint }: AwsEmulator) {
  const env = { ...environmentAt(endpoint, 'us-east-1'), REDRESS_DATA: data, SHOP_PORT: String(shopPort) };
  const names = ['first', 'second'];
  const urls: string[] = [];
  for (const name of names) {
    assert.equal(await deployment(name, 'deploy', env), 0, `${name} is deployed`);
    urls.push(apiOf(name));
  }
  const orders: string[] = [];
  for (const [at, url] of urls.entries()) orders.push(await completed(url, names[at] ?? ''));
  const foreign = await Promise.all(urls.map((url, at) => statusOf(url, orders[1 - at] ?? '')));
  assert.deepEqual(foreign, [404, 404], 'a deployment does not know the orders of the other one');
  for (const name of names) assert.equal(await deployment(name, 'destroy', env), 0, `${name} is destroyed`);
  return { server, deployments: names.length, completed: orders.length, foreign, left: await leftovers(endpoint) };
}

function deployment(name: string, command: string, env: NodeJS.ProcessEnv): Promise<number> {
  const program = ['-C', 'redress-source', '--disable-warning=ExperimentalWarning', 'dev/tools/deploy-local.ts'];
  const args = [...program, command, '-c', `name=${name}`, '-c', `stack=${stackOf(name)}`];
  return run(process.execPath, args, { env, quiet: command === 'destroy' });
}

function stackOf(name: string): string {
  return `Redress-${name}`;
}

function apiOf(name: string): string {
  const outputs = JSON.parse(readFileSync(`${root}${localOutputs}`, 'utf8')) as { [stack: string]: { ApiUrl: string } };
  const url = outputs[stackOf(name)]?.ApiUrl;
  assert.ok(url, `the outputs of ${name} name its API`);
  return url;
}

async function headersOf(role: 'client' | 'operator'): Promise<{ authorization: string; 'content-type': string }> {
  const token = await openLocalIssuer(data).sign({ role, ...(role === 'client' ? { client: 'acme' } : {}) });
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
}

/** Submits a good order and waits for its end. Throws if it does not complete within five minutes. */
async function completed(url: string, key: string): Promise<string> {
  const body = readFileSync(`${root}examples/orders/samples/ok.json`, 'utf8');
  const headers = { ...(await headersOf('client')), 'idempotency-key': key };
  const posted = await fetch(`${url}/orders`, { method: 'POST', headers, body });
  assert.equal(posted.status, 202, await posted.clone().text());
  const { orderId } = (await posted.json()) as { orderId: string };
  for (const until = Date.now() + 300_000; Date.now() < until; await sleep(500)) {
    const response = await fetch(`${url}/orders/${orderId}`, { headers: await headersOf('operator') });
    const { outcome } = (await response.json()) as { outcome?: string };
    if (outcome === 'completed') return orderId;
  }
  throw new Error(`The order ${orderId} at ${url} did not complete within five minutes.`);
}

async function statusOf(url: string, orderId: string): Promise<number> {
  return (await fetch(`${url}/orders/${orderId}`, { headers: await headersOf('operator') })).status;
}
