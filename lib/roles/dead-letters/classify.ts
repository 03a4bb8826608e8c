import { UnprocessableMessage } from '#authoring/fault';
import { isProgrammingError } from '#core/data/thrown';
import { withoutTexts } from '#core/definition/secrets';
import { NewerMessageError, StoreRefusesError, UnreadableMessageError } from '#ports/errors';

/**
 * Class of a failure to process a message. `unreadable`: no version can decode it. `content`: the handler fails on its content.
 * `newer`: only a newer version can process it. `transient`: an outage, throttling or a lost race, which the message did not cause.
 */
export type Failure = 'unreadable' | 'content' | 'newer' | 'transient';

export function failureOf(error: unknown): Failure {
  if (error instanceof UnreadableMessageError) return 'unreadable';
  if (error instanceof NewerMessageError) return 'newer';
  if (error instanceof UnprocessableMessage || error instanceof StoreRefusesError) return 'content';
  return isProgrammingError(error) ? 'content' : 'transient';
}

/** Returns the name of an error, for logs that must not have its text: the text may quote the message. */
export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

/**
 * Returns the text of an error, for the attempts that a dead letter keeps. The secrets of the message are masked before the text is cut:
 * a part of a secret would not be recognized. If the secrets are not known, only the texts of this system's own errors are kept.
 */
export function errorText(error: unknown, secrets: readonly string[] | undefined): string {
  const isOwn = error instanceof UnreadableMessageError || error instanceof NewerMessageError;
  if (secrets === undefined && !isOwn) return nameOf(error);
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return withoutTexts(text, secrets ?? []).slice(0, charactersMax);
}

const charactersMax = 1000;
