import type { App } from '#authoring/workflow';
import type { Json } from '#core/data/json';
import type { Rule } from '#testing/rehearse/stubs';

/** One order and its surroundings. Runs differ only in their crashes. */
export interface Scenario {
  readonly app: App;
  /** The body of the order. The first workflow of the app is under test. */
  readonly order: Json;
  readonly rules: readonly Rule[];
  /** Names of the agents whose own operations run. */
  readonly real: ReadonlySet<string>;
  /** Environment variables of the system. */
  readonly variables: { readonly [name: string]: string };
  /** Whether messages are sent in the transaction of each write. */
  readonly writesAndSendsAtomically: boolean;
  /** The time for which no process runs after a crash. */
  readonly downMs: number;
  readonly submittedBy: 'call' | 'message';
  /** The time between the submission and the cancellation by the client. */
  readonly cancelAfterMs?: number | undefined;
  /** Invalid messages, with their queues. */
  readonly poison?: readonly { readonly queue: string; readonly body: string }[] | undefined;
}

export const clientName = 'client';
/** The client's response queue. */
export const responseQueue = 'redress-response-client';
/** The sender of the client's messages. */
export const senderId = 'local';
export const submissionKey = 'order';
