import type { RemoteActivity } from '#core/definition/definition';
import { idempotencyKeyOf, requestIdOf } from './ids.ts';
import type { Json } from './json.ts';

/** An action that follows an event. The scheduler carries it out together with the write of the new state, or after it. */
export type Command =
  | {
      readonly type: 'request';
      readonly path: string;
      readonly agent: string;
      readonly operation: string;
      readonly requestId: string;
      readonly idempotencyKey: string;
      readonly attempt: number;
      readonly epoch: number;
      /** Milliseconds since 1970. */
      readonly completeBy: number;
      readonly input: Json;
      /** Requests only the outcome under this key: whether the effect exists and must be undone. */
      readonly confirming?: true;
      /** The first request under its key, although not the first of its step. */
      readonly newKey?: true;
      /** A copy of this request may have been sent before. */
      readonly resent?: true;
    }
  /** Cancels a request. Its agent stops if it can. */
  | {
      readonly type: 'cancel';
      readonly path: string;
      readonly agent: string;
      readonly requestId: string;
      readonly idempotencyKey: string;
    }
  /** A hint only: the receiver reads the state to see what is due. */
  | { readonly type: 'wake'; readonly at: number };

export type CancelCommand = Extract<Command, { type: 'cancel' }>;
export type RequestCommand = Extract<Command, { type: 'request' }>;

interface RequestedAttempt {
  readonly generation: number;
  readonly attempt: number;
  readonly epoch: number;
  readonly completeBy: number;
  readonly mode?: string;
  readonly newKey?: true;
}

/**
 * Builds the request of a step. It is built again from the state if the host crashed before it could record that the
 * request was sent.
 */
export const requestCommand = (
  orderId: string,
  path: string,
  { agent, operation }: RemoteActivity,
  attempt: RequestedAttempt,
  input: Json,
): RequestCommand => ({
  type: 'request',
  path,
  agent,
  operation,
  requestId: requestIdOf(orderId, path, attempt),
  idempotencyKey: idempotencyKeyOf(orderId, path, attempt.generation),
  attempt: attempt.attempt,
  epoch: attempt.epoch,
  completeBy: attempt.completeBy,
  input,
  ...(attempt.mode === 'confirm' ? { confirming: true as const } : {}),
  ...(attempt.newKey ? { newKey: true as const } : {}),
});
