import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer as createSocket, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { dynoxide } from 'redress-emulators';

/** A local server that speaks an AWS protocol. */
export interface Emulator {
  readonly endpoint: string;
  stop(): Promise<void>;
}

const readyWithinMs = 60_000;

/** DynamoDB: dynoxide, in memory or on a database file. If it cannot start, the tests fail. */
export const startDynoxide = (database?: string): Promise<Emulator> =>
  startProcess(dynoxide, (port) => ['--host', '127.0.0.1', '--port', String(port), ...(database ? ['--db-path', database] : [])]);

const maven = 'mvn';
const pom = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>redress</groupId>
  <artifactId>dynamodb-local</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.amazonaws</groupId>
      <artifactId>DynamoDBLocal</artifactId>
      <version>2.6.1</version>
    </dependency>
  </dependencies>
</project>`;

/**
 * DynamoDB: Amazon's own DynamoDB Local, which Maven fetches once into a folder that `npm ci` empties. Needs Java 17.
 */
export async function startDynamoDbLocal(): Promise<Emulator> {
  const folder = fileURLToPath(new URL('../../node_modules/.cache/dynamodb-local', import.meta.url));
  const complete = join(folder, 'complete');
  if (!existsSync(complete)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'pom.xml'), pom);
    const goal = [
      '--batch-mode',
      '-q',
      '-f',
      join(folder, 'pom.xml'),
      'dependency:copy-dependencies',
      '-DincludeScope=runtime',
      `-DoutputDirectory=${folder}`,
    ];
    execFileSync(maven, goal, { stdio: ['ignore', 'inherit', 'inherit'] });
    writeFileSync(complete, '');
  }
  const main = ['-cp', join(folder, '*'), `-Djava.library.path=${folder}`, 'com.amazonaws.services.dynamodbv2.local.main.ServerRunner'];
  // It leaves a file in its working directory.
  return startProcess('java', (port) => [...main, '-inMemory', '-port', String(port)], folder);
}

/** Starts a program that listens on the given port, and waits until it does. */
export async function startProcess(program: string, argsFor: (port: number) => readonly string[], cwd?: string): Promise<Emulator> {
  const port = await freePort();
  const child = spawn(program, argsFor(port), { stdio: ['ignore', 'ignore', 'pipe'], ...(cwd ? { cwd } : {}) });
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints = (complaints + chunk).slice(-2000)));
  const failed = Promise.race([
    once(child, 'error').then(([error]) => String(error)),
    once(child, 'exit').then(([code]) => `it ended with exit code ${code}. ${complaints}`),
  ]);
  const endpoint = `http://127.0.0.1:${port}`;
  const trouble = await Promise.race([failed, answers(endpoint)]);
  if (trouble !== undefined) {
    child.kill('SIGKILL');
    throw new Error(`The emulator ${program} cannot be started: ${trouble}`);
  }
  return { endpoint, stop: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function answers(endpoint: string): Promise<string | undefined> {
  for (const until = Date.now() + readyWithinMs; Date.now() < until; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const response = await fetch(endpoint).catch(() => undefined);
    if (response) return undefined;
  }
  return `nobody answered at ${endpoint} within ${readyWithinMs} ms`;
}

async function freePort(): Promise<number> {
  const socket = createSocket().listen(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address() as AddressInfo;
  socket.close();
  await once(socket, 'close');
  return port;
}

/** SQS with a clock that stops until a test advances it. */
export interface Fauxqs extends Emulator {
  now(): number;
  /** Advances the clock: delayed, hidden and awaited messages become due in their order. */
  advance(ms: number): Promise<void>;
  /** Number of receivers that wait for a message. */
  waiting(): Promise<number>;
}

/** SQS: fauxqs, in its own thread. With a `start` its clock stops there; without one it shows the real time. */
export async function startFauxqs({ start }: { readonly start?: number } = {}): Promise<Fauxqs> {
  const worker = new Worker(new URL('../adapters/aws/fauxqs-worker.ts', import.meta.url), { workerData: { start }, execArgv: [] });
  const replies = new Map<number, (reply: unknown) => void>();
  let calls = 0;
  let now = start ?? 0;
  const ask = (question: string, ms = 0): Promise<unknown> =>
    new Promise((resolve) => {
      replies.set(++calls, resolve);
      worker.postMessage({ id: calls, question, ms });
    });
  const [{ port }] = (await Promise.race([once(worker, 'message'), once(worker, 'error').then(([error]) => Promise.reject(error))])) as [
    { port: number },
  ];
  worker.on('message', ({ id, reply }: { id: number; reply: unknown }) => {
    replies.get(id)?.(reply);
    replies.delete(id);
  });
  return {
    endpoint: `http://127.0.0.1:${port}`,
    now: () => (start === undefined ? Date.now() : now),
    async advance(ms) {
      await ask('advance', ms);
      now += ms;
    },
    waiting: () => ask('waiting') as Promise<number>,
    async stop() {
      await worker.terminate();
    },
  };
}

/** The entries that arrived on a bus, and how the bus behaves. */
export interface EventBus extends Emulator {
  readonly arrived: readonly PutEventsRequestEntry[];
  readonly requests: () => number;
  /** Decides for each entry whether the bus accepts it; for tests of partial failures. */
  refuse(rule: (entry: PutEventsRequestEntry) => boolean): void;
  /** Answers the next requests with this status. */
  fail(times: number, status: number): void;
}

/**
 * EventBridge: npm has no emulator of it, so this accepts `PutEvents` in its protocol and keeps the entries. It reports
 * every requested bus as existing, or only the named one.
 */
export async function startEventBus({ name }: { readonly name?: string } = {}): Promise<EventBus> {
  const arrived: PutEventsRequestEntry[] = [];
  let requests = 0;
  let refuses: (entry: PutEventsRequestEntry) => boolean = () => false;
  let failures = { times: 0, status: 500 };

  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      response.setHeader('content-type', 'application/x-amz-json-1.1');
      if (request.headers['x-amz-target'] === 'AWSEvents.DescribeEventBus') {
        const { Name } = JSON.parse(body) as { Name?: string };
        if (name === undefined || Name === name) return response.end(JSON.stringify({ Name }));
        return response.writeHead(400).end(JSON.stringify({ __type: 'ResourceNotFoundException', message: `no ${Name}` }));
      }
      requests += 1;
      if (failures.times-- > 0) {
        return response.writeHead(failures.status).end(JSON.stringify({ __type: 'InternalException', message: 'told to fail' }));
      }
      const { Entries = [] } = JSON.parse(body) as { Entries?: PutEventsRequestEntry[] };
      const results = Entries.map((entry) =>
        refuses(entry) ? { ErrorCode: 'ThrottlingException', ErrorMessage: 'told to refuse' } : { EventId: `event-${arrived.push(entry)}` },
      );
      return response.end(JSON.stringify({ FailedEntryCount: results.filter((result) => 'ErrorCode' in result).length, Entries: results }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    requests: () => requests,
    refuse: (rule) => void (refuses = rule),
    fail: (times, status) => void (failures = { times, status }),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A gate in front of a server. While it is shut, it breaks open connections and refuses new ones. */
export interface Gate extends Emulator {
  shut(): Promise<void>;
  open(): Promise<void>;
}

export async function startGate({ endpoint }: Pick<Emulator, 'endpoint'>): Promise<Gate> {
  const { hostname, port: behind } = new URL(endpoint);
  const inside = new Set<Socket>();
  const door = createSocket((socket) => {
    const beyond = connect(Number(behind), hostname);
    for (const [each, other] of [
      [socket, beyond],
      [beyond, socket],
    ] as const) {
      inside.add(each);
      each.on('error', () => other.destroy()).on('close', () => inside.delete(each) && other.destroy());
      each.pipe(other);
    }
  });
  const open = async (port: number): Promise<void> => {
    door.listen(port, '127.0.0.1');
    await once(door, 'listening');
  };
  const shut = async (): Promise<void> => {
    if (!door.listening) return;
    door.close();
    for (const socket of inside) socket.destroy();
    await once(door, 'close');
  };
  await open(0);
  const { port } = door.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}`, open: () => open(port), shut, stop: shut };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** KMS, as far as this system uses it. It counts the calls of each kind, and refuses a key whose encryption context differs. */
export interface Kms extends Emulator {
  readonly calls: { GenerateDataKey: number; Decrypt: number };
}

export async function startKms(): Promise<Kms> {
  const calls = { GenerateDataKey: 0, Decrypt: 0 };
  const made = new Map<string, { readonly plain: string; readonly context: string }>();
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      response.setHeader('content-type', 'application/x-amz-json-1.1');
      const { CiphertextBlob = '', EncryptionContext } = JSON.parse(body) as { CiphertextBlob?: string; EncryptionContext?: object };
      const context = JSON.stringify(EncryptionContext);
      if (request.headers['x-amz-target'] === 'TrentService.GenerateDataKey') {
        calls.GenerateDataKey += 1;
        const [plain, wrapped] = [randomBytes(32).toString('base64'), randomBytes(184).toString('base64')];
        made.set(wrapped, { plain, context });
        return response.end(JSON.stringify({ Plaintext: plain, CiphertextBlob: wrapped }));
      }
      calls.Decrypt += 1;
      const found = made.get(CiphertextBlob);
      if (found?.context === context) return response.end(JSON.stringify({ Plaintext: found.plain }));
      return response.writeHead(400).end(JSON.stringify({ __type: 'InvalidCiphertextException' }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
