import type { App } from '#authoring/workflow';
import type { Json } from '#core/data/json';
import type { Rule } from '#testing/rehearse/stubs';

/** One order, and what happens around it: the same in every run, but for the crashes. */
export interface Scenario {
  readonly app: App;
  /** Its first workflow is the one that is tested. */
  readonly order: Json;
  readonly rules: readonly Rule[];
  /** Names of the agents whose own functions are run. */
  readonly real: ReadonlySet<string>;
  /** Variables as the system itself takes them. */
  readonly variables: { readonly [name: string]: string };
  /** Whether what is sent is part of the write's own transaction. */
  readonly writesAndSendsAtomically: boolean;
  /** How long no process is there after one has died. */
  readonly downMs: number;
  readonly submittedBy: 'call' | 'message';
  /** The client cancels, so long after he submitted. */
  readonly cancelAfterMs?: number | undefined;
  /** Messages that mean nothing, by their queue. */
  readonly poison?: readonly { readonly queue: string; readonly body: string }[] | undefined;
}

export const clientName = 'client';
/** Where the client listens. */
export const responseQueue = 'redress-response-client';
/** Who posts in the client's name. */
export const senderId = 'local';
export const submissionKey = 'order';
