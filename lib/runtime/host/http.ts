import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Authentication } from '#api/authentication';
import { isLoopback } from '#api/loopback';
import { problems, problemText } from '#api/problem';
import { unavailable } from '#api/responses';
import { authorizationOf } from '#api/session';
import { SetupError } from '#ports/errors';
import type { Telemetry } from '#ports/telemetry';

export type HttpHandler = (event: APIGatewayProxyEventV2) => Promise<APIGatewayProxyStructuredResultV2>;

/** An HTTP server that passes every request to a function, like API Gateway. */
export interface HttpEntrance {
  readonly url: string;
  /** Stops accepting requests and waits for the running ones. */
  stop(): Promise<void>;
}

export interface HttpOptions {
  readonly port: number;
  readonly host: string;
  /** Host names by which callers reach the server. Without names, a server that listens for other machines accepts any. */
  readonly names?: readonly string[];
  readonly telemetry: Telemetry;
  /** Authenticates a call with a body by its Authorization header. The body is read only if the bearer of the token is known. */
  readonly authenticate?: (authorization: string | null) => Promise<Authentication['outcome']>;
}

/** The most connections at a time, which limits the memory for bodies that are being read. */
const connectionsMax = 1_000;

/** The largest body that the server reads: slightly more than the API's limit. It drops a larger one, and the API refuses the call. */
const bodyBytesMax = 300 * 1024;

/** Starts the server. @throws SetupError when the port is in use or forbidden. */
export async function startHttp(
  handler: HttpHandler,
  { port, host, names = [], telemetry, authenticate = async () => 'known' }: HttpOptions,
): Promise<HttpEntrance> {
  const isServed = hostCheck(host, names);
  const server = createServer(
    { requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 60_000, maxHeaderSize: 16_384 },
    (request, response) => {
      if (!isServed(hostnameIn(request.headers.host))) return refuse('forbidden', request, response);
      answer(handler, request, response, authenticate).catch((error: unknown) => {
        if (isHangUp(error, request)) return telemetry.log('debug', 'caller hung up', { error });
        telemetry.log('error', 'request failed', { error });
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
    },
  );
  server.maxConnections = connectionsMax;
  await listen(server, port, host);
  const { port: bound } = server.address() as AddressInfo;
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${shown}:${bound}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        // A client's keep-alive connection must not delay the stop.
        setTimeout(() => server.closeAllConnections(), 3_000).unref();
      }),
  };
}

/**
 * Returns a check of the Host header against DNS rebinding: a page of another site must not reach a server that listens for this machine or
 * for named hosts.
 */
function hostCheck(host: string, names: readonly string[]): (name: string) => boolean {
  if (!isLoopback(host) && names.length === 0) return () => true;
  const served = new Set([host, ...names].map((name) => name.toLowerCase()));
  return (name) => served.has(name) || isLoopback(name);
}

const isHangUp = (error: unknown, { complete }: IncomingMessage): boolean =>
  !complete && (error as NodeJS.ErrnoException).code === 'ECONNRESET';

/** Returns the Host header without its port; a client without the header counts as local. */
const hostnameIn = (header: string | undefined): string => (header ?? 'localhost').replace(/:\d+$/, '').toLowerCase();

/** Refuses a call before its function gets it, and without reading its body. */
function refuse(problem: 'forbidden' | 'unavailable', { url = '/' }: IncomingMessage, response: ServerResponse): void {
  const headers = { 'content-type': 'application/problem+json', 'cache-control': 'no-store', connection: 'close' };
  response.writeHead(problems[problem].status, { ...headers, ...(problem === 'unavailable' ? unavailable.headers : {}) });
  response.end(problemText({ problem }, { requestId: randomUUID(), instance: splitTarget(url).pathname }));
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        return reject(
          new SetupError(`Port ${port} on ${host} is in use.`, `Choose another port: PORT=${port + 1}, or PORT=0 for any free port.`),
        );
      if (error.code === 'EACCES')
        return reject(new SetupError(`The user of this process may not listen on port ${port}.`, 'Choose a port above 1023 with PORT.'));
      reject(new SetupError(`Cannot listen on ${host}:${port}: ${error.message}.`, 'Choose an address of this machine with HOST.'));
    });
    server.listen(port, host, resolve);
  });
}

async function answer(
  handler: HttpHandler,
  request: IncomingMessage,
  response: ServerResponse,
  authenticate: NonNullable<HttpOptions['authenticate']>,
): Promise<void> {
  // The body is read only if the token is valid, so that strangers cannot fill the memory with bodies. The function refuses their calls.
  const bearer = isBodiless(request) ? 'known' : await authenticate(credentialOf(request));
  // The function might meet an issuer that is available again, and would then refuse the call for its missing body.
  if (bearer === 'unavailable') return refuse('unavailable', request, response);
  const body = bearer === 'known' ? await bodyOf(request) : undefined;
  const result = await handler(eventOf(request, body));
  const headers: { [name: string]: string | string[] } = {};
  for (const [name, value] of Object.entries(result.headers ?? {})) headers[name] = String(value);
  if (result.cookies) headers['set-cookie'] = result.cookies;
  if (body === undefined) headers['connection'] = 'close';
  const bytes = Buffer.from(result.body ?? '', result.isBase64Encoded ? 'base64' : 'utf8');
  const status = result.statusCode ?? 200;
  if (status !== 204 && status !== 304 && request.method !== 'HEAD') headers['content-length'] = String(bytes.length);
  response.writeHead(status, headers);
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

const credentialOf = ({ method = '', headers }: IncomingMessage): string | null =>
  authorizationOf({ method, header: (name) => headers[name]?.toString() });

const isBodiless = ({ headers }: IncomingMessage): boolean =>
  Number(headers['content-length'] ?? 0) === 0 && headers['transfer-encoding'] === undefined;

/**
 * Returns the body, or undefined if it is too large: at once if its Content-Length says so. Without this header, the rest is read and
 * dropped, because an unread body destroys the connection.
 */
function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= bodyBytesMax) return void chunks.push(chunk);
      chunks.length = 0;
      resolve(undefined);
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

function eventOf(request: IncomingMessage, body: Buffer | undefined): APIGatewayProxyEventV2 {
  const { pathname, search } = splitTarget(request.url ?? '/');
  const headers: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(',') : value;
  // The function refuses a dropped body by its Content-Length.
  if (body === undefined) headers['content-length'] = String(Math.max(Number(headers['content-length'] ?? 0), bodyBytesMax + 1));
  const method = request.method ?? 'GET';
  const now = new Date();
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: decoded(pathname),
    rawQueryString: search,
    headers,
    requestContext: {
      accountId: 'local',
      apiId: 'local',
      domainName: headers['host'] ?? 'localhost',
      domainPrefix: 'local',
      http: {
        method,
        path: decoded(pathname),
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: request.socket.remoteAddress ?? '',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: '$default',
      stage: '$default',
      time: now.toISOString(),
      timeEpoch: now.getTime(),
    },
    ...(body && body.length > 0 ? { body: body.toString('base64') } : {}),
    isBase64Encoded: true,
  };
}

const splitTarget = (target: string): { pathname: string; search: string } => {
  const mark = target.indexOf('?');
  return mark < 0 ? { pathname: target, search: '' } : { pathname: target.slice(0, mark), search: target.slice(mark + 1) };
};

/** Decodes the whole path, like API Gateway. A path that cannot be decoded stays as it is and matches no route. */
function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}
