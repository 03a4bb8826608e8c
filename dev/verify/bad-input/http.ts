import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';

export interface Sent {
  readonly method: string;
  /** The path and the query, as they are sent. */
  readonly target: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer | undefined;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Returns an agent that uses its connections again. `fetch` does not serve here: it would correct what is wrong with a request. */
export const openAgent = (connections: number): Agent => new Agent({ keepAlive: true, maxSockets: connections });

/** Sends a request as it is. Rejects if the connection ends without an answer. */
export function send(agent: Agent, url: string, { method, target, headers, body }: Sent): Promise<Answered> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': body.length };
    const outgoing = request({ agent, hostname, port, method, path: target, headers: { ...headers, ...length } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }),
      );
      response.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Sends JSON for the preparation of a run, and returns the answer as JSON. */
export async function call<T>(
  agent: Agent,
  url: string,
  what: string,
  { token, body, headers = {} }: { readonly token: string; readonly body?: unknown; readonly headers?: OutgoingHttpHeaders },
): Promise<T & { readonly etag: string }> {
  const [method = '', target = ''] = what.split(' ');
  const given = body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = { method, target, headers: { authorization: `Bearer ${token}`, ...given, ...headers } };
  const answer = await send(agent, url, { ...sent, body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)) });
  if (answer.status >= 300) throw new Error(`${what} is answered with ${answer.status}: ${answer.text}`);
  return { ...(JSON.parse(answer.text) as T), etag: answer.headers.etag ?? '' };
}
