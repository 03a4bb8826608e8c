import type { ServerResponse } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { installClock } from './virtual-time.ts';

/**
 * fauxqs in a thread, so that its clock can be replaced without touching the test's own. Two of its rules are patched
 * (docs/guides/emulators.md): it refuses characters beyond U+FFFF, and lets receivers that have left take messages.
 */
const { start } = workerData as { readonly start?: number };
const clock = start === undefined ? undefined : installClock(start);

interface Queue {
  cancelWaiters(): void;
  readonly pollWaiters: readonly unknown[];
}
interface App {
  addHook(
    name: 'preHandler',
    hook: (request: { readonly body?: { readonly QueueUrl?: string } }, reply: { readonly raw: ServerResponse }) => Promise<void>,
  ): void;
  listen(options: { port: number; host: string }): Promise<string>;
}
type Stores = { readonly sqsStore: { allQueues(): Iterable<Queue>; getQueue(url: string): Queue | undefined } };

const main = import.meta.resolve('fauxqs');
const load = <T>(path: string): Promise<T> => import(new URL(path, main).href) as Promise<T>;
const { buildApp } = await load<{ buildApp(options: object): App }>('./app.js');
const { SqsStore } = await load<{ SqsStore: new () => Stores['sqsStore'] }>('./sqs/sqsStore.js');
const { INVALID_MESSAGE_BODY_CHAR } = await load<{ INVALID_MESSAGE_BODY_CHAR: RegExp }>('./sqs/sqsTypes.js');

const refused = /[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
INVALID_MESSAGE_BODY_CHAR.test = (body) => refused.test(body);

const sqsStore = new SqsStore();
const { SnsStore } = await load<{ SnsStore: new () => object }>('./sns/snsStore.js');
const { S3Store } = await load<{ S3Store: new () => object }>('./s3/s3Store.js');
const app = buildApp({ logger: false, stores: { sqsStore, snsStore: new SnsStore(), s3Store: new S3Store() } });
app.addHook('preHandler', async ({ body }, { raw }) => {
  raw.once('close', () => {
    if (!raw.writableFinished) sqsStore.getQueue(body?.QueueUrl ?? '')?.cancelWaiters();
  });
});
const address = await app.listen({ port: 0, host: '127.0.0.1' });

parentPort?.on('message', async ({ id, question, ms }: { id: number; question: 'advance' | 'waiting'; ms: number }) => {
  if (question === 'advance') await clock?.advance(ms);
  const waiting = [...sqsStore.allQueues()].reduce((count, { pollWaiters }) => count + pollWaiters.length, 0);
  parentPort?.postMessage({ id, reply: waiting });
});
parentPort?.postMessage({ port: Number(new URL(address).port) });
