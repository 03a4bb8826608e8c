import { once } from 'node:events';
import http, { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd, type Ending } from '../../../test/processes/support.ts';
import type { CallSeen } from './arithmetic.ts';

/** Content with which the service always fails, or takes nearly the whole time limit of a step. */
export const badContent = { broken: 'tok_broken', slow: 'tok_slow' } as const;
const slowMs = 9_000;

/**
 * Starts a proxy before a service, which records and forwards each call. A call with slow content is forwarded after nine seconds. A call
 * with broken content is answered with 500 and not forwarded.
 */
export async function startRelay(ending: Ending, target: string): Promise<{ readonly url: string; readonly calls: readonly CallSeen[] }> {
  const calls: CallSeen[] = [];
  const agent = new http.Agent({ keepAlive: true });
  const server = createServer((request, response) => {
    const [at, key] = [Date.now(), String(request.headers['idempotency-key'])];
    const { method, headers, url = '/' } = request;
    const forward = async (): Promise<void> => {
      const body = await buffer(request);
      if (body.includes(badContent.slow)) await sleep(slowMs, undefined, { ref: false });
      if (!body.includes(badContent.broken)) return void onward.end(body);
      onward.destroy();
      calls.push({ at, key, done: false });
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end('{"code":"internal"}');
    };
    const onward = http.request(`${target}${url}`, { method, headers, agent }, (answer) => {
      const { statusCode = 502 } = answer;
      calls.push({ at, key, done: statusCode < 300 });
      response.writeHead(statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => {
      if (response.headersSent) return;
      calls.push({ at, key, done: false });
      response.destroy();
    });
    forward().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(ending, () => {
    server.close();
    server.closeAllConnections();
    agent.destroy();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}
