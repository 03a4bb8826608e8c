import * as z from 'zod';
import { jsonIn } from '#ports/util/json';
import { type Compressed, compressed, decompressed } from './compress.ts';
import type { DeadLetter } from './dead-letter.ts';

/** A message that the failure policy gave up, with its failures, on its way to the dead-letter queue. */
export interface Poison extends Pick<DeadLetter, 'queue' | 'messageId' | 'body' | 'sentAt' | 'reason' | 'attempts' | 'failures'> {
  /** The sender, needed to notify the client. The policy decides separately whether it is kept. */
  readonly senderId?: string;
}

const Envelope = z.object({
  v: z.literal(1),
  type: z.literal('poison'),
  queue: z.string(),
  messageId: z.string(),
  sentAt: z.number(),
  senderId: z.string().exactOptional(),
  reason: z.string(),
  attempts: z.array(z.object({ at: z.number(), error: z.string(), nothingDone: z.literal(true).exactOptional() })),
  failures: z.number(),
  body: z.union([z.string(), z.object({ deflated: z.string() })]) satisfies z.ZodType<Compressed>,
});

/** Returns the name under which the body of a message is encrypted in its envelope. The body cannot be decrypted under another name. */
export const aboutEnvelope = (queue: string, messageId: string): string => `envelope/${queue}/${messageId}`;

export const envelopeOf = ({ body, ...poison }: Poison): string =>
  JSON.stringify({ v: 1, type: 'poison', ...poison, body: compressed(body) });

/** Returns the envelope's message; undefined if the queue redrove the message itself, or the envelope names another queue. */
export function poisonIn(text: string, queue: string): Poison | undefined {
  try {
    const { v: _, type: __, body, ...poison } = Envelope.parse(jsonIn(text));
    return poison.queue === queue ? { ...poison, body: decompressed(body) } : undefined;
  } catch {
    return undefined;
  }
}
