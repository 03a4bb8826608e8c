import { once } from 'node:events';
import http, { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd, type Ending } from '../../../test/processes/support.ts';
import type { CallSeen } from './arithmetic.ts';

/** Starts a proxy before a service, which forwards and records each call. */
export async function startRelay(ending: Ending, target: string): Promise<{ readonly url: string; readonly calls: readonly CallSeen[] }> {
  const calls: CallSeen[] = [];
  const agent = new http.Agent({ keepAlive: true });
  const server = createServer((request, response) => {
    const [at, key] = [Date.now(), String(request.headers['idempotency-key'])];
    const { method, headers, url = '/' } = request;
    const onward = http.request(`${target}${url}`, { method, headers, agent }, (answer) => {
      const { statusCode = 502 } = answer;
      calls.push({ at, key, done: statusCode < 300 });
      response.writeHead(statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => {
      calls.push({ at, key, done: false });
      response.destroy();
    });
    request.pipe(onward);
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
