import type { AnyOperation } from '#authoring/agent';
import type { Request } from '#ports/messages';
import type { Result } from './results.ts';

/** The next act of the agent after an error of an operation. */
export type AfterError =
  | { readonly does: 'tries again'; readonly pauseMs: number }
  | { readonly does: 'replies'; readonly result: Result }
  /** The message is delivered again. */
  | { readonly does: 'gives the message back' };

/** Trouble with the code of an operation, for its developer. Its errors quote no secret of the request. */
export type Trouble = {
  readonly agent: string;
  readonly operation: AnyOperation;
  /** The request, with the secrets of its input decrypted. */
  readonly request: Request;
  readonly secrets: readonly string[];
} & (
  | { readonly what: 'threw'; readonly in: 'run' | 'lookup'; readonly error: unknown; readonly next: AfterError }
  | { readonly what: 'failed to cancel'; readonly error: unknown }
  /** The agent refused the input or the output: it does not fit the operation's schema, or it is too large. */
  | { readonly what: 'was refused'; readonly result: Result }
  /** The operation gave no answer before the deadline. */
  | { readonly what: 'was silent' }
);

/** Receives troubles. It must not throw. */
export type ReportTrouble = (trouble: Trouble) => void;
