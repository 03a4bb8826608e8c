import type { RemoteActivity } from '#core/definition/definition';
import { idempotencyKeyOf, requestIdOf } from './ids.ts';
import type { Json } from './json.ts';

/** What to do about an event, once the new state is saved. */
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
      /** It is only to be known whether the effect under this key exists: it is to be undone, or nobody wants it any more. */
      readonly confirming?: true;
      /** The first asking under its key, although not the first of its step. */
      readonly newKey?: true;
      /** A copy of this request may have been sent before. */
      readonly resent?: true;
    }
  /** An asking is not wanted any more: its agent stops if it can. */
  | {
      readonly type: 'cancel';
      readonly path: string;
      readonly agent: string;
      readonly requestId: string;
      readonly idempotencyKey: string;
    }
  /** A hint only: whoever is woken looks at the state to see what is due. */
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

/** The one way to a request: made when a step asks, and made again from the state when nobody knows whether it was sent. */
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
