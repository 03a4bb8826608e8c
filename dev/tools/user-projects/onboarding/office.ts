import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const names: { readonly [path: string]: string } = { accounts: 'accountId', laptops: 'laptopId', desks: 'deskId' };

/** Starts a service that creates accounts, laptops and desks, each once for an idempotency key. It forgets them when it stops. */
export async function startOffice() {
  const made = new Map<string, object>();
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://office');
    const reply = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    let text = '';
    for await (const chunk of request) text += chunk;
    if (request.method === 'DELETE') return response.writeHead(204).end();

    const key = request.method === 'GET' ? (searchParams.get('idempotencyKey') ?? '') : String(request.headers['idempotency-key']);
    const known = made.get(key);
    if (known || request.method === 'GET') return known ? reply(200, known) : reply(404, {});
    if (pathname === '/desks' && JSON.parse(text).city === 'Nowhere') return reply(409, { code: 'no-desk' });

    const name = names[pathname.slice(1)];
    const body = name ? { [name]: `${pathname.slice(1, -1)}-${made.size + 1}` } : {};
    made.set(key, body);
    return reply(201, body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
