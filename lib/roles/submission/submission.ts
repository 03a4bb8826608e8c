import { hash } from 'node:crypto';
import type * as z from 'zod';
import { fits, type Json, sortedText, utf8Bytes } from '#core/data/json';
import { limits } from '#core/definition/definition';
import type { Program } from '#core/definition/program';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { StateTooLargeError, UnreadableRecordError } from '#ports/errors';
import type { Keys } from '#ports/keys';
import { timeText } from '#ports/messages';
import type { OrderRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { issuesIn, validatorOf } from '#ports/util/validation';
import type { Scheduler } from '#roles/scheduler/scheduler';
import { markedIn } from '#roles/secrets/marked';
import { contentHash, newOrderKey, orderKeyIn } from '#roles/secrets/order-key';
import { withSecretsSealed } from '#roles/secrets/sealing';

/** An order as a client submits it. */
export interface Submission {
  readonly client: string;
  /** Names the submission within its client. The same key means the same order. */
  readonly idempotencyKey: string;
  readonly workflow?: string;
  readonly order: Json;
  readonly reference?: string;
  readonly responseChannel?: string;
}

/** One problem of a submission. */
export interface SubmissionProblem {
  /** JSON pointer into the submission: `/order/items/0/quantity`. */
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

export type Submitted =
  | { readonly outcome: 'accepted'; readonly order: OrderRecord; readonly replayed: boolean }
  | { readonly outcome: 'invalid'; readonly problems: readonly SubmissionProblem[] }
  | { readonly outcome: 'key-reused' };

export interface SubmissionOptions {
  readonly store: Store;
  readonly scheduler: Scheduler;
  readonly definitions: Definitions;
  readonly clock: Clock;
  /** The keys that encrypt secrets. Absent: secrets are stored in plain text. */
  readonly keys?: Keys | undefined;
  readonly defaultWorkflow: string;
  readonly claimOnSubmit: boolean;
  readonly stepMs: number;
  readonly maxFailures: number;
  /** Whether finished orders are deleted after a retention time. */
  readonly forgets?: boolean;
  readonly longWaitMs?: number;
}

/** Stores an order and its state in one transaction, or returns the problems and stores nothing. */
export type Submit = (submission: Submission) => Promise<Submitted>;

/** Derives the id from client and key, so that a repeated submission finds its order as long as that is stored. */
export const orderIdOf = (client: string, idempotencyKey: string): string => idFrom([client, idempotencyKey]);

/** Derives the id of a called order from the call's idempotency key: one order per effect, for any number of requests. */
export const childIdOf = (idempotencyKey: string): string => idFrom(['workflows', 'call', idempotencyKey]);

/** Derives the id of the order that replaces another one: one order for each instruction. */
export const restartIdOf = (orderId: string, rev: number): string => idFrom(['workflows', 'restart', orderId, String(rev)]);

/** Derives the id of the order that handles an exception: one order for each exception. */
export const handlerIdOf = (orderId: string, seq: number): string => idFrom(['workflows', 'handle', orderId, String(seq)]);

const idFrom = (parts: readonly string[]): string => `ord_${base32(hash('sha256', JSON.stringify(parts), 'buffer'))}`;

const workflowProblem = (named: string | undefined, names: readonly string[]): SubmissionProblem =>
  named === undefined
    ? { pointer: '/workflow', code: 'missing-workflow', detail: `This app has several workflows. Name one of them: ${names.join(', ')}.` }
    : { pointer: '/workflow', code: 'unknown-workflow', detail: `Unknown workflow. Known workflows: ${names.join(', ')}.` };

export function createSubmission(options: SubmissionOptions): Submit {
  const {
    store,
    scheduler,
    definitions,
    clock,
    keys,
    defaultWorkflow,
    claimOnSubmit,
    stepMs,
    maxFailures,
    forgets = false,
    longWaitMs,
  } = options;

  async function recordOf(submission: Submission, { orderId, content, program }: Accepted): Promise<OrderRecord> {
    const { client, reference, responseChannel, order } = submission;
    const { name, version } = program.definition;
    const { ofOrder, anywhere } = markedIn(program);
    const key = anywhere && keys ? await newOrderKey(orderId, keys) : undefined;
    const submittedAt = clock.now();
    return {
      orderId,
      client,
      ...(reference === undefined ? {} : { reference }),
      workflow: { name, version },
      body: key && keys ? withSecretsSealed(order, ofOrder, key, (bytes) => keys.random(bytes)) : order,
      hash: contentHash(content, key),
      ...(key ? { key: key.wrapped } : {}),
      ...(responseChannel === undefined ? {} : { responseChannel }),
      submittedAt,
      ...(forgets || (await store.hasForgotten()) ? { firstGeneration: Math.floor(submittedAt / 1000) } : {}),
      answer: JSON.stringify({ orderId, processState: claimOnSubmit ? 'Processing' : 'Pending', submittedAt: timeText(submittedAt) }),
    };
  }

  return async (submission) => {
    const { client, idempotencyKey, order: body, workflow = defaultWorkflow } = submission;
    const program = definitions.newest(workflow);
    if (!program) return { outcome: 'invalid', problems: [workflowProblem(submission.workflow, definitions.names())] };

    const { order: schema } = program.definition;
    const orderId = orderIdOf(client, idempotencyKey);
    const content = contentOf(submission, workflow);
    const problems = [...sizeProblems(body), ...bodyProblems(validatorOf(schema), body), ...(await channelProblems(submission, store))];
    if (problems.length > 0) {
      // If the key has an order already, the answer is about that order, not about the problems of this body. An accepted order stays
      // accepted, even if schemas or registrations have changed since.
      const earlier = await submittedUnder(orderId, store);
      return earlier ? repeated(earlier, content, keys) : { outcome: 'invalid', problems };
    }
    const order = await recordOf(submission, { orderId, content, program });
    const ofRecord = sizeProblems(order.body);
    if (ofRecord.length > 0) return { outcome: 'invalid', problems: ofRecord };
    const created = await scheduler.create(order, { claim: claimOnSubmit, stepMs, maxFailures, longWaitMs }).catch(tooLarge);
    if (created.outcome === 'too-large') return { outcome: 'invalid', problems: [created.problem] };
    return created.outcome === 'written' ? { outcome: 'accepted', order, replayed: false } : repeated(created.order, content, keys);
  };
}

/** The identity of a valid submission, and its content as one text. */
interface Accepted {
  readonly orderId: string;
  readonly content: string;
  readonly program: Program;
}

const contentOf = ({ order, reference, responseChannel }: Submission, workflow: string): string =>
  sortedText({ workflow, order, reference: reference ?? null, responseChannel: responseChannel ?? null });

/** Returns the result of a submission whose key has an order. After an erasure, no content can be compared: the key counts as reused. */
async function repeated(order: OrderRecord, content: string, keys: Keys | undefined): Promise<Submitted> {
  const key = order.key === undefined ? undefined : await orderKeyIn(order.key, order.orderId, keys);
  return order.hash === contentHash(content, key) ? { outcome: 'accepted', order, replayed: true } : { outcome: 'key-reused' };
}

/** Loads a submitted order, also if its state is damaged or was written by a newer version. */
async function submittedUnder(orderId: string, store: Pick<Store, 'load'>): Promise<OrderRecord | undefined> {
  try {
    return (await store.load(orderId))?.order;
  } catch (error) {
    if (error instanceof UnreadableRecordError && error.order) return error.order;
    throw error;
  }
}

async function channelProblems(
  { client, responseChannel }: Submission,
  store: Pick<Store, 'client'>,
): Promise<readonly SubmissionProblem[]> {
  if (responseChannel === undefined) return [];
  const registered = await store.client(client);
  if (registered?.responseChannels.includes(responseChannel)) return [];
  const detail = 'No response queue of this name is registered for this client. An admin registers one with PUT /clients/{id}.';
  return [{ pointer: '/responseChannel', code: 'unknown-response-channel', detail }];
}

/** Converts the error for a state that is too large, although the order's body is within its limit. */
function tooLarge(error: unknown): { readonly outcome: 'too-large'; readonly problem: SubmissionProblem } {
  if (!(error instanceof StateTooLargeError)) throw error;
  return { outcome: 'too-large', problem: { pointer: '/order', code: 'too-large', detail: error.message } };
}

/** Returns the problem of a body that is too large as stored, with its numbers written out. */
const sizeProblems = (body: Json): readonly SubmissionProblem[] =>
  fits(body, limits.inputBytesMax)
    ? []
    : [
        {
          pointer: '/order',
          code: 'too-large',
          detail: `Expected at most ${limits.inputBytesMax} bytes as JSON, got ${utf8Bytes(body)}.`,
        },
      ];

/** Returns the problems that a schema finds in a body, with JSON pointers. A sealed secret was checked before it was sealed. */
export function bodyProblems(schema: z.ZodType, body: Json, prefix = '/order'): readonly SubmissionProblem[] {
  return issuesIn(schema, body).flatMap((issue) => {
    const pointer = prefix + pointerOf(issue.path);
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({
        pointer: pointer + pointerOf([key]),
        code: 'unknown-field',
        detail: 'The schema has no such field.',
      }));
    const isMissing = issue.code === 'invalid_type' && String(issue.expected) === 'nonoptional';
    return [{ pointer, code: issue.code.replaceAll('_', '-'), detail: isMissing ? 'This field is required.' : issue.message }];
  });
}

export const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** Encodes bytes as RFC 4648 base32, in lowercase and without padding. */
function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(value >>> (bits - 5)) & 31];
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? text + alphabet[(value << (5 - bits)) & 31] : text;
}
