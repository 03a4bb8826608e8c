import { isObject, type JsonObject } from '#core/data/json';
import type { DayKey, Keys } from '#ports/keys';
import { jsonIn } from '#ports/util/json';
import { dayOfText, encryptedText, isSealedText, openedText, openedWith } from '#roles/secrets/texts';
import { bodyBytesMax, cutCharacters, type DeadLetter } from './dead-letter.ts';

const aboutOf = ({ id }: Pick<DeadLetter, 'id'>): string => `dead-letter/${id}`;

/**
 * Returns a dead letter as it is stored: its body is encrypted as a whole, because the fields of a message that nobody can process
 * cannot always be told apart. A request loses the key of its order, so that an erasure of the order reaches this copy too.
 */
export async function sealedLetter(message: DeadLetter, keys: Keys | undefined): Promise<DeadLetter> {
  if (!keys || isSealedText(message.body)) return message;
  const body = withoutKey(message.body);
  const bytes = Buffer.byteLength(message.body);
  const whole = await encryptedText(body, aboutOf(message), keys);
  if (whole.length <= bodyBytesMax) return { ...message, body: whole, bytes };
  return { ...message, body: await encryptedText(body.slice(0, cutCharacters), aboutOf(message), keys), bytes, cut: { bytes } };
}

/** Returns a dead letter with its body decrypted. Older dead letters are plain. */
export const openedLetter = async (message: DeadLetter, keys: Keys | undefined): Promise<DeadLetter> => ({
  ...message,
  body: await openedText(message.body, aboutOf(message), keys),
});

/** Returns a dead letter with its body decrypted, without waiting for a key: `of` returns day keys that are loaded already. */
export function openedLetterNow(message: DeadLetter, of: (day: string) => DayKey): DeadLetter {
  const day = dayOfText(message.body);
  return day === undefined ? message : { ...message, body: openedWith(of(day), message.body, aboutOf(message)) };
}

/** Removes the wrapped key of an order from a request. A resubmission takes the order's present key. */
function withoutKey(body: string): string {
  const message = body.includes('"key"') ? jsonIn(body) : undefined;
  if (!isObject(message) || message['type'] !== 'request' || message['key'] === undefined) return body;
  const { key: _, ...rest } = message as JsonObject;
  return JSON.stringify(rest);
}
