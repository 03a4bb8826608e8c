import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Emulator } from './emulators.ts';

/**
 * Ways in which a proxy may treat a call: refuse it for its rate, or for a conflict with a transaction; fail it; cut it off
 * before it arrives, or after it was carried out; carry it out late, after the caller may have left; carry it out
 * twice; or take the whole service away.
 */
export const faultKinds = ['throttled', 'conflict', 'failed', 'neverSent', 'answerLost', 'late', 'twice', 'away'] as const;
export type FaultKind = (typeof faultKinds)[number];

/** The rate of each kind among all calls: from 0 to 1. */
export type FaultRates = { readonly [kind in Exclude<FaultKind, 'away'>]?: number };

/** A proxy in front of an AWS service that breaks calls. It counts its faults by kind and call: `late PutItem`. */
export interface FaultProxy extends Emulator {
  readonly landed: ReadonlyMap<string, number>;
  /** All calls, broken or not. */
  readonly calls: () => number;
  /** Leaves calls unanswered for this time. */
  goAway(ms: number): void;
  /** Breaks no calls from now on. */
  calm(): void;
}

/** Operations that can conflict with another transaction. */
const transactional = new Set(['UpdateItem', 'PutItem', 'DeleteItem', 'TransactWriteItems']);
/** A receiver that has left gets no messages: they would be hidden from all others. */
const needsListener = new Set(['ReceiveMessage']);
const lateMs = 3000;

export async function startFaultProxy(
  { endpoint }: Pick<Emulator, 'endpoint'>,
  rates: FaultRates,
  random: () => number,
): Promise<FaultProxy> {
  const { hostname, port } = new URL(endpoint);
  const agent = new Agent({ keepAlive: true });
  const landed = new Map<string, number>();
  let calls = 0;
  let quiet = false;
  let awayUntil = 0;

  const count = (kind: FaultKind, operation: string) => landed.set(`${kind} ${operation}`, (landed.get(`${kind} ${operation}`) ?? 0) + 1);

  function fate(operation: string): FaultKind | undefined {
    if (quiet) return undefined;
    if (Date.now() < awayUntil) return 'away';
    let left = random();
    for (const [kind, rate] of Object.entries(rates) as [Exclude<FaultKind, 'away'>, number][]) {
      left -= rate;
      if (left < 0) return kind === 'conflict' && !transactional.has(operation) ? 'throttled' : kind;
    }
    return undefined;
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const operation = String(incoming.headers['x-amz-target'] ?? 'unknown').replace(/^.*\./, '');
    const body = await text(incoming);
    const call: Call = { incoming, response, operation, body };
    calls += 1;
    const kind = fate(operation);
    if (kind === undefined) return pass(call);
    // A fault does not reach a caller that has left.
    if (!response.destroyed) count(kind, operation);
    switch (kind) {
      case 'away':
      case 'neverSent':
        return void response.destroy();
      case 'throttled':
        return refuse(call, 400, { __type: throttleOf(incoming), message: 'told to refuse' });
      case 'conflict':
        return refuse(call, 400, conflictOf(operation));
      case 'failed':
        return refuse(call, 500, { __type: 'InternalServerError', message: 'told to fail' });
      case 'answerLost':
        await forward(call);
        return void response.destroy();
      case 'late':
        await sleep(lateMs * random());
        return pass(call);
      case 'twice':
        await Promise.all([pass(call), forward(call)]);
    }
  }

  async function pass(call: Call): Promise<void> {
    const { status, headers, content } = await forward(call);
    if (!call.response.destroyed) call.response.writeHead(status, headers).end(content);
  }

  async function forward({ incoming: { method, url, headers }, response, operation, body }: Call): Promise<Answer> {
    const isHeard = needsListener.has(operation);
    if (isHeard && response.destroyed) return { status: 500, headers: {}, content: '' };
    const beyond = request({ hostname, port, agent, method, path: url, headers: { ...headers, host: `${hostname}:${port}` } });
    if (isHeard) response.once('close', () => response.writableFinished || beyond.destroy());
    // An error may also come after the reply; before it, `once` below reports the error.
    beyond.on('error', () => undefined);
    beyond.end(body);
    const [reply] = (await once(beyond, 'response')) as [IncomingMessage];
    return { status: reply.statusCode ?? 500, headers: reply.headers, content: await text(reply) };
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    landed,
    calls: () => calls,
    goAway: (ms) => void (awayUntil = Date.now() + ms),
    calm: () => void (quiet = true),
    async stop() {
      server.closeAllConnections();
      server.close();
      agent.destroy();
      await once(server, 'close');
    },
  };
}

interface Call {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly operation: string;
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly content: string;
}

function refuse({ incoming, response }: Call, status: number, body: object): void {
  response.writeHead(status, { 'content-type': incoming.headers['content-type'] ?? 'application/x-amz-json-1.0' });
  response.end(JSON.stringify(body));
}

/** Returns the error code for a throttled call, which differs from service to service. */
function throttleOf({ headers }: IncomingMessage): string {
  const target = String(headers['x-amz-target']);
  if (target.startsWith('DynamoDB')) return 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException';
  return target.startsWith('AmazonSQS') ? 'com.amazonaws.sqs#RequestThrottled' : 'ThrottlingException';
}

const conflictOf = (operation: string): object =>
  operation === 'TransactWriteItems'
    ? {
        __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
        message: 'Transaction canceled [TransactionConflict, None]',
        CancellationReasons: [{ Code: 'TransactionConflict', Message: 'told to refuse' }, { Code: 'None' }],
      }
    : { __type: 'com.amazonaws.dynamodb.v20120810#TransactionConflictException', message: 'told to refuse' };
