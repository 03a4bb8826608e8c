import { hash } from 'node:crypto';
import type { JsonObject } from '#core/data/json';
import { collections, type Document } from '#ports/documents';
import { channelOf } from '#roles/channels/policy';
import { type Compressed, compressed, compressedBytes, decompressed } from './compress.ts';

/** One failure of handling a message. Times are milliseconds since 1970. */
export interface Attempt {
  readonly at: number;
  readonly error: string;
  /** It is certain that it has had no effect. */
  readonly nothingDone?: true;
}

/** A message that nobody could process, with its story, kept for a person. */
export interface DeadLetter {
  readonly id: string;
  /** The queue that it came on, and goes to when it is resubmitted. */
  readonly queue: string;
  readonly messageId: string;
  /** As it came, byte for byte. */
  readonly body: string;
  /** Of one that is too large to be kept whole, even packed: what is missing from it. */
  readonly cut?: { readonly bytes: number; readonly sha256: string };
  readonly reason: string;
  /** Oldest first; those before the last ten are only counted. */
  readonly attempts: readonly Attempt[];
  readonly failures: number;
  readonly sentAt: number;
  readonly deadAt: number;
  /** Where the channel knows who sent it, and the policy lets it be kept. */
  readonly senderId?: string;
  /** Whose it is, where it says so. */
  readonly orderId?: string;
  readonly type?: string;
  /** What a person has begun to do with it, noted before it is done. */
  readonly handling?: Handling;
}

/** Who does what with a message that was dead-lettered. Long after, it tells of something that was broken off. */
export interface Handling {
  readonly action: 'resubmit' | 'discard';
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly reason: string;
}

/** Sorts by when it was sent; the same for every delivery of the same message, so that it is dead-lettered once. */
export const deadLetterId = ({ queue, sentAt, messageId }: Pick<DeadLetter, 'queue' | 'sentAt' | 'messageId'>): string =>
  `${new Date(sentAt).toISOString().replaceAll(/[-:.]/g, '')}-${queue}-${messageId}`.replaceAll(/[^A-Za-z0-9_-]/g, '_');

/** DynamoDB takes 400 KB, with all that is said of it. */
const bodyBytesMax = 360 * 1024;
const cutCharacters = 32 * 1024;

export function deadLetterDocument({ body, ...message }: DeadLetter): Document {
  const whole = compressed(body);
  const kept = compressedBytes(whole) <= bodyBytesMax ? { body: whole } : { body: body.slice(0, cutCharacters), cut: cutOf(body) };
  return {
    collection: collections.deadLetters(channelOf(message.queue)),
    id: message.id,
    rev: 1,
    content: { ...message, ...kept } as unknown as JsonObject,
  };
}

const cutOf = (body: string) => ({ bytes: Buffer.byteLength(body), sha256: hash('sha256', body) });

export function deadLetterIn({ content }: Document): DeadLetter {
  const { body, ...message } = content as unknown as Omit<DeadLetter, 'body'> & { readonly body: Compressed };
  return { ...message, body: decompressed(body) };
}
