import { hash } from 'node:crypto';
import type * as z from 'zod';
import { fits, type Json, sortedText, utf8Bytes } from '#core/data/json';
import { limits } from '#core/definition/definition';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { StateTooLargeError, UnreadableRecordError } from '#ports/errors';
import { timeText } from '#ports/messages';
import type { OrderRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { validatorOf } from '#ports/util/validation';
import type { Scheduler } from '#roles/scheduler/scheduler';

/** What a client wants done. */
export interface Submission {
  readonly client: string;
  /** The client's own name for this submission: the same key again is the same order. */
  readonly idempotencyKey: string;
  readonly workflow?: string;
  readonly order: Json;
  readonly reference?: string;
  readonly responseChannel?: string;
}

/** One thing that is wrong with a submission. */
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
  readonly defaultWorkflow: string;
  readonly claimOnSubmit: boolean;
  readonly stepMs: number;
  readonly maxFailures: number;
  /** Finished orders are forgotten after some time. */
  readonly forgets?: boolean;
  readonly longWaitMs?: number;
}

/** Puts an order and its state into the store, in one transaction, or says what is wrong and writes nothing (SAS). */
export type Submit = (submission: Submission) => Promise<Submitted>;

/** The same client and key give the same id: submitting twice is harmless by construction, as long as the order exists. */
export const orderIdOf = (client: string, idempotencyKey: string): string => idFrom([client, idempotencyKey]);

/** The order that a call of another order makes: one for each effect, however often it is asked for. */
export const childIdOf = (idempotencyKey: string): string => idFrom(['workflows', 'call', idempotencyKey]);

const idFrom = (parts: readonly string[]): string => `ord_${base32(hash('sha256', JSON.stringify(parts), 'buffer'))}`;

export function createSubmission({
  store,
  scheduler,
  definitions,
  clock,
  defaultWorkflow,
  claimOnSubmit,
  stepMs,
  maxFailures,
  forgets = false,
  longWaitMs,
}: SubmissionOptions): Submit {
  async function channelProblem({ client, responseChannel }: Submission): Promise<SubmissionProblem | undefined> {
    if (responseChannel === undefined) return undefined;
    const registered = await store.client(client);
    if (registered?.responseChannels.includes(responseChannel)) return undefined;
    return {
      pointer: '/responseChannel',
      code: 'unknown-response-channel',
      detail: 'No response queue of this name is registered for this client. An admin registers one with PUT /clients/{id}.',
    };
  }

  return async (submission) => {
    const { client, idempotencyKey, order: body, reference, responseChannel, workflow = defaultWorkflow } = submission;
    const program = definitions.newest(workflow);
    if (!program)
      return {
        outcome: 'invalid',
        problems: [
          {
            pointer: '/workflow',
            code: 'unknown-workflow',
            detail: `There is no workflow of this name. Known: ${definitions.names().join(', ')}.`,
          },
        ],
      };

    const { name, version, order: schema } = program.definition;
    const orderId = orderIdOf(client, idempotencyKey);
    const digest = hash(
      'sha256',
      sortedText({ workflow, order: body, reference: reference ?? null, responseChannel: responseChannel ?? null }),
    );
    const problems = [
      ...sizeProblems(body),
      ...bodyProblems(validatorOf(schema), body),
      ...[await channelProblem(submission)].filter((problem) => problem !== undefined),
    ];
    if (problems.length > 0) return refusalOrKeyReuse(orderId, digest, problems);

    const submittedAt = clock.now();
    const order: OrderRecord = {
      orderId,
      client,
      ...(reference === undefined ? {} : { reference }),
      workflow: { name, version },
      body,
      hash: digest,
      ...(responseChannel === undefined ? {} : { responseChannel }),
      submittedAt,
      ...(forgets || (await store.hasForgotten()) ? { firstGeneration: Math.floor(submittedAt / 1000) } : {}),
      answer: JSON.stringify({ orderId, processState: claimOnSubmit ? 'Processing' : 'Pending', submittedAt: timeText(submittedAt) }),
    };
    const created = await scheduler.create(order, { claim: claimOnSubmit, stepMs, maxFailures, longWaitMs }).catch(tooLarge);
    if (created.outcome === 'too-large') return { outcome: 'invalid', problems: [created.problem] };
    if (created.outcome === 'written') return { outcome: 'accepted', order, replayed: false };
    return created.order.hash === digest ? { outcome: 'accepted', order: created.order, replayed: true } : { outcome: 'key-reused' };
  };

  /** What was submitted can be read where the state cannot: a newer program has written that, or it is damaged. */
  async function submittedUnder(orderId: string): Promise<OrderRecord | undefined> {
    try {
      return (await store.load(orderId))?.order;
    } catch (error) {
      if (error instanceof UnreadableRecordError && error.order) return error.order;
      throw error;
    }
  }

  /** A key that is taken says so even where the second body is invalid as well. */
  async function refusalOrKeyReuse(orderId: string, digest: string, problems: readonly SubmissionProblem[]): Promise<Submitted> {
    const order = await submittedUnder(orderId);
    if (!order) return { outcome: 'invalid', problems };
    // An order that was good when it came stays good, whatever has been registered or changed since.
    return order.hash === digest ? { outcome: 'accepted', order, replayed: true } : { outcome: 'key-reused' };
  }
}

/** Its body fits; but not what the workflow makes of it before the first answer. */
function tooLarge(error: unknown): { readonly outcome: 'too-large'; readonly problem: SubmissionProblem } {
  if (!(error instanceof StateTooLargeError)) throw error;
  return { outcome: 'too-large', problem: { pointer: '/order', code: 'too-large', detail: error.message } };
}

/** As it is stored, with its numbers written out: whoever submits by message is bound by it as well. */
const sizeProblems = (body: Json): readonly SubmissionProblem[] =>
  fits(body, limits.inputBytesMax)
    ? []
    : [
        {
          pointer: '/order',
          code: 'too-large',
          detail: `The order has ${utf8Bytes(body)} bytes as JSON; at most ${limits.inputBytesMax} are taken.`,
        },
      ];

/** All that a schema says against a body, as pointers. */
export function bodyProblems(schema: z.ZodType, body: Json, prefix = '/order'): readonly SubmissionProblem[] {
  const { error } = schema.safeParse(body);
  return (error?.issues ?? []).flatMap((issue) => {
    const pointer = prefix + pointerOf(issue.path);
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({
        pointer: pointer + pointerOf([key]),
        code: 'unknown-field',
        detail: 'This field is not known here.',
      }));
    return [{ pointer, code: issue.code.replaceAll('_', '-'), detail: issue.message }];
  });
}

export const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** RFC 4648 base32, small letters, no padding. */
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
