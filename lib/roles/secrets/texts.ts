import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { DayKey, Keys } from '#ports/keys';
import { decrypted, encrypted } from '#ports/util/cipher';

const form = /^sealed-text:1:(\d{4}-\d{2}-\d{2}):([A-Za-z0-9_-]+)$/;

/** Encrypts a whole text with the key of the day. `about` names its record. */
export async function encryptedText(text: string, about: string, keys: Keys): Promise<string> {
  const { day, key } = await keys.today();
  const content = encrypted(key, deflateRawSync(text), `redress/text/${about}`, (bytes) => keys.random(bytes));
  return `sealed-text:1:${day}:${content.toString('base64url')}`;
}

export const isSealedText = (text: string): boolean => form.test(text);

/** Decrypts a text that `encryptedText` returned; returns any other text unchanged. */
export async function openedText(text: string, about: string, keys: Keys | undefined): Promise<string> {
  const [, day] = form.exec(text) ?? [];
  if (day === undefined) return text;
  if (!keys) throw new Error('This text is encrypted, and this process has no keys. Set REDRESS_SECRETS_KEY to the key of the deployment.');
  return openedWith(await keys.of(day), text, about);
}

/** Decrypts a text with the key of its day. */
export function openedWith({ key }: DayKey, text: string, about: string): string {
  const [, , content = ''] = form.exec(text) ?? [];
  return inflateRawSync(decrypted(key, Buffer.from(content, 'base64url'), `redress/text/${about}`)).toString('utf8');
}

/** Returns the day whose key encrypts a text; undefined for a plain text. */
export const dayOfText = (text: string): string | undefined => form.exec(text)?.[1];
