import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { SNSClient, SubscribeCommand, UnsubscribeCommand } from '@aws-sdk/client-sns';
import { CreateQueueCommand, DeleteMessageCommand, DeleteQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Role } from '#api/authentication';
import { openLocalIssuer } from '#api/local-issuer';

const required = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is missing: run these tests with npm run test:deployed.`);
  return value;
};

/** The outputs of the stack, as `npm run deploy:local` recorded them. */
interface Outputs {
  readonly ApiUrl: string;
  readonly AlertsTopicArn: string;
  readonly TableName: string;
  readonly BusName: string;
  readonly QueuePrefix: string;
}

export const outputs = (Object.values(JSON.parse(readFileSync(required('REDRESS_OUTPUTS'), 'utf8'))) as Outputs[])[0] as Outputs;
export const endpoint = required('AWS_ENDPOINT_URL');
export const shopUrl = required('REDRESS_SHOP');
/** The issuer whose tokens the deployment accepts. */
export const issuer = openLocalIssuer(required('REDRESS_DATA'));
export const sqs = new SQSClient({ useQueueUrlAsEndpoint: false });
const sns = new SNSClient({});

export const runId = `${Date.now().toString(36)}${process.pid}`;
export const client = `client-${runId}`;
let keys = 0;

const tokens = new Map<Role, Promise<string>>();
const tokenOf = (role: Role): Promise<string> => {
  const known = tokens.get(role) ?? issuer.sign({ role, ...(role === 'client' ? { client } : {}) });
  tokens.set(role, known);
  return known;
};

export interface Order {
  readonly orderId: string;
  readonly processState: string;
  readonly outcome: string | null;
  readonly failureCount: number;
  readonly fault: { readonly type: string } | null;
  readonly completeBy: string | null;
  readonly steps: readonly { readonly name: string; readonly status: string; readonly completeBy: string | null }[];
}

export async function call(method: string, path: string, { role = 'client', body, headers = {} }: CallOptions = {}): Promise<Response> {
  const authorization = role === 'nobody' ? {} : { authorization: `Bearer ${await tokenOf(role)}` };
  return fetch(`${outputs.ApiUrl}${path}`, {
    method,
    headers: { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
}

interface CallOptions {
  readonly role?: Role | 'nobody';
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
}

type Sample = { readonly [field: string]: unknown };

/** A file of JSON of the examples. */
export const sampleIn = (path: string): Sample =>
  JSON.parse(readFileSync(new URL(`../../examples/${path}`, import.meta.url), 'utf8')) as Sample;

/** A body for `POST /orders` from the samples of the orders. */
export const sample = (name: string): Sample => sampleIn(`orders/samples/${name}.json`);

/**
 * Posts an order. A server that replaces a function may end it in the middle of a call. A client without an answer, or with a 5xx,
 * therefore submits again under the same key.
 */
export async function submit(body: object): Promise<string> {
  const key = `${runId}-${++keys}`;
  for (let tried = 1; ; tried++) {
    const posted = await call('POST', '/orders', { body, headers: { 'idempotency-key': key } }).catch((error: unknown) => String(error));
    const text = typeof posted === 'string' ? posted : await posted.text();
    if (typeof posted !== 'string' && posted.status === 202) return (JSON.parse(text) as { orderId: string }).orderId;
    const mayComeRight = typeof posted === 'string' || posted.status >= 500;
    if (!mayComeRight || tried >= 20) throw new Error(`POST /orders: ${typeof posted === 'string' ? '' : posted.status} ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

export const orderOf = async (orderId: string): Promise<Order> =>
  (await (await call('GET', `/orders/${orderId}`, { role: 'operator' })).json()) as Order;

/** Polls until there is an answer. The limit measures nothing, and only keeps a failure from hanging. */
export async function eventually<T>(what: string, look: () => Promise<T | undefined>, withinMs = 600_000): Promise<T> {
  for (const deadline = performance.now() + withinMs; performance.now() < deadline; ) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${what}: not within ${withinMs / 1000} s`);
}

/** Calls the API as an operator, again if a local server has no process for the function. */
export async function asked<T>(method: string, path: string, body?: object, more: CallOptions['headers'] = {}): Promise<T> {
  const headers = { 'idempotency-key': `${runId}-${path}`, ...more };
  return eventually(`an answer to ${method} ${path}`, async () => {
    const answer = await call(method, path, { role: 'operator', ...(body ? { body, headers } : {}) }).catch(() => undefined);
    if (!answer || answer.status >= 500 || answer.status === 429) return undefined;
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as T;
  });
}

/** Waits until the order has ended or waits for a person. */
export const ended = (orderId: string): Promise<Order> =>
  eventually(`the end of ${orderId}`, async () => {
    const order = await orderOf(orderId);
    return order.processState === 'Processed' || order.processState === 'Error' ? order : undefined;
  });

/** A separate queue for one test; it is deleted afterwards. */
export async function openQueue(t: TestContext, name: string): Promise<{ readonly url: string; readonly arn: string }> {
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
  t.after(() => sqs.send(new DeleteQueueCommand({ QueueUrl })));
  const account = outputs.AlertsTopicArn.split(':').slice(3, 5).join(':');
  return { url: QueueUrl, arn: `arn:aws:sqs:${account}:${name}` };
}

/** Receives and deletes all messages of a queue until `enough`. */
export async function received(url: string, enough: (bodies: readonly string[]) => boolean): Promise<readonly string[]> {
  const bodies: string[] = [];
  return eventually(`messages on ${url}`, async () => {
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }));
    for (const { Body = '', ReceiptHandle } of Messages) {
      bodies.push(Body);
      await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
    }
    return enough(bodies) ? bodies : undefined;
  });
}

/** A queue that subscribes to the operators' alerts. */
export async function subscribe(t: TestContext): Promise<string> {
  const { url, arn } = await openQueue(t, `alerts-${runId}-${++keys}`);
  const { SubscriptionArn } = await sns.send(
    new SubscribeCommand({ TopicArn: outputs.AlertsTopicArn, Protocol: 'sqs', Endpoint: arn, ReturnSubscriptionArn: true }),
  );
  t.after(() => sns.send(new UnsubscribeCommand({ SubscriptionArn })));
  return url;
}

/** An announcement about an order, as the topic delivers it. */
export interface OrderAnnouncement {
  readonly 'detail-type': string;
  readonly detail: { readonly orderId: string; readonly [field: string]: unknown };
}

/** Returns the announcements about an order. The topic also delivers CloudWatch alarms. */
export const announcementsOf = (orderId: string, bodies: readonly string[]): readonly OrderAnnouncement[] =>
  bodies
    .map((body) => JSON.parse((JSON.parse(body) as { Message: string }).Message) as Partial<OrderAnnouncement>)
    .filter((message): message is OrderAnnouncement => message.detail?.orderId === orderId);

/** Disturbs one of the shop's services until the test ends. */
export async function disturb(t: TestContext, change: object): Promise<void> {
  const put = (body: object) =>
    fetch(`${shopUrl}/switches`, { method: 'PUT', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  await put(change);
  t.after(() => put({}));
}

/** The effects of a service for an order. */
export async function effects(service: string, orderId: string): Promise<readonly { readonly kind: string; readonly undoneAt?: string }[]> {
  const answer = await fetch(`${shopUrl}/${service}/effects?orderId=${encodeURIComponent(orderId)}`);
  return ((await answer.json()) as { effects: readonly { kind: string; undoneAt?: string }[] }).effects;
}

/** The messages to the customer, by kind. */
export const kindOf = async (orderId: string): Promise<string | undefined> => (await effects('customer', orderId))[0]?.kind;

/** Kills the processes in which a local server runs a function of this deployment; returns their number. */
export function killFunction(role: string): number {
  // The table of another deployment on this machine may have the same name.
  const marks = [`REDRESS_ROLE=${role}`, `REDRESS_TABLE=${outputs.TableName}`, `AWS_ENDPOINT_URL=${endpoint}`];
  const pids = readdirSync('/proc').filter((pid) => {
    try {
      const variables = new Set(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0'));
      return /^\d+$/.test(pid) && marks.every((mark) => variables.has(mark));
    } catch {
      // The entry is no process, or its process has ended or belongs to another user.
      return false;
    }
  });
  for (const pid of pids) process.kill(Number(pid), 'SIGKILL');
  return pids.length;
}
