import type { JsonObject } from '#core/data/json';
import { collections, type Document } from '#ports/documents';
import { channelOf } from '#roles/channels/policy';
import { type Compressed, compressed, compressedBytes, decompressed } from './compress.ts';

/** One failure of handling a message. Times are milliseconds since 1970. */
export interface Attempt {
  readonly at: number;
  readonly error: string;
  /** The attempt certainly had no effect. */
  readonly nothingDone?: true;
}

/** A dead letter: a message that could not be processed, kept with its attempts for an operator. */
export interface DeadLetter {
  readonly id: string;
  /** The queue that delivered the message. A resubmission goes to the same queue. */
  readonly queue: string;
  readonly messageId: string;
  /** The original body, byte for byte, or its beginning if `cut` is set. `sealedLetter` encrypts it before it is stored. */
  readonly body: string;
  /** Size of the original body, if the stored one is encrypted. */
  readonly bytes?: number;
  /** Size of the whole body, if the body is too large to be kept even when compressed. */
  readonly cut?: { readonly bytes: number };
  /** Whether the text of the message was erased with the secrets of its order. */
  readonly erased?: true;
  readonly reason: string;
  /** The last ten attempts, oldest first. `failures` counts all of them. */
  readonly attempts: readonly Attempt[];
  readonly failures: number;
  readonly sentAt: number;
  readonly deadAt: number;
  /** The sender, if the queue reports it and the policy permits keeping it. */
  readonly senderId?: string;
  /** The order that the message names, if any. */
  readonly orderId?: string;
  readonly type?: string;
  /** The operator's action, recorded before it is carried out. */
  readonly handling?: Handling;
}

/** An operator's action on a dead letter. If it is still there after `handlingMs`, the action was interrupted. */
export interface Handling {
  readonly action: 'resubmit' | 'discard';
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly reason: string;
}

/** Returns the id of a dead letter, which sorts by the time of sending. All deliveries of a message have the same id. */
export const deadLetterId = ({ queue, sentAt, messageId }: Pick<DeadLetter, 'queue' | 'sentAt' | 'messageId'>): string =>
  `${new Date(sentAt).toISOString().replaceAll(/[-:.]/g, '')}-${queue}-${messageId}`.replaceAll(/[^A-Za-z0-9_-]/g, '_');

/** The largest body. It leaves room for the other fields below DynamoDB's limit of 400 KB. */
export const bodyBytesMax = 360 * 1024;
export const cutCharacters = 32 * 1024;
/** The longest reason. The faults of a schema name each wrong entry of a list, and would not fit into a message or an item. */
export const reasonCharactersMax = 2000;

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

const cutOf = (body: string) => ({ bytes: Buffer.byteLength(body) });

export function deadLetterIn({ content }: Document): DeadLetter {
  const { body, ...message } = content as unknown as Omit<DeadLetter, 'body'> & { readonly body: Compressed };
  return { ...message, body: decompressed(body) };
}
