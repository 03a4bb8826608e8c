import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openLedger } from './ledger.ts';
import { createRoutes, type ShopRequest } from './routes.ts';
import { type Answer, refusal } from './service.ts';
import { type ServiceName, serviceEnvironment, serviceNames } from './services.ts';
import { createSwitches } from './switches.ts';

export interface Shop {
  readonly url: string;
  readonly urls: Readonly<Record<ServiceName, string>>;
  /** The same addresses as variables for the agents: `PAYMENT_URL` and the others. */
  readonly environment: { readonly [variable: string]: string };
  close(): Promise<void>;
}

/** Starts the stand-ins for the remote services behind one port, each below its own name, and /switches to disturb them. */
export async function startShop({
  port = 0,
  host = '127.0.0.1',
  ledger: path = ':memory:',
}: {
  port?: number;
  host?: string;
  ledger?: string;
} = {}): Promise<Shop> {
  const ledger = await openLedger(path);
  const closing = new AbortController();
  const route = createRoutes({ ledger, switches: createSwitches(), closing: closing.signal });

  const server = createServer(async (request, response) => {
    try {
      // Against DNS rebinding: a page of another site must not change the switches of a shop on this machine.
      if (isLoopback(host) && !isLoopback(request.headers.host ?? 'localhost')) return send(response, refusal(403, 'forbidden'));
      const shopRequest = await read(request);
      const answer = 'status' in shopRequest ? shopRequest : await route(shopRequest);
      if (answer) send(response, answer);
    } catch (error) {
      // Callers that have hung up get no answer. Neither does any caller while the shop closes.
      if (response.destroyed || closing.signal.aborted) return;
      console.error(error);
      send(response, refusal(500, 'internal'));
    }
  });
  server.listen(port, host);
  await once(server, 'listening');

  const url = `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    url,
    urls: Object.fromEntries(serviceNames.map((name) => [name, `${url}/${name}`])) as Record<ServiceName, string>,
    environment: serviceEnvironment(url),
    async close() {
      closing.abort();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      ledger.close();
    },
  };
}

/** Whether a host, with or without a port, is this machine. */
const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\]|::1)(:\d+)?$/i.test(host);

const bodyBytesMax = 256 * 1024;

async function read(request: IncomingMessage): Promise<ShopRequest | Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= bodyBytesMax) chunks.push(chunk);
  }
  if (bytes > bodyBytesMax) return refusal(413, 'too-large');

  const text = Buffer.concat(chunks).toString();
  const { method = 'GET', url = '/', headers } = request;
  try {
    return {
      method,
      url: new URL(url, 'http://shop'),
      idempotencyKey: headers['idempotency-key']?.toString(),
      body: text === '' ? undefined : JSON.parse(text),
    };
  } catch {
    return refusal(400, 'malformed-json');
  }
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, {
    ...(body === '' ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
    ...(status === 429 ? { 'Retry-After': 1 } : {}),
  });
  response.end(body);
}
