import * as z from 'zod';
import { type Compressed, compressed, decompressed } from './compress.ts';
import type { DeadLetter } from './dead-letter.ts';

/** What is given up, on its way to the dead letters of its queue: the message, and what is known of it. */
export interface Poison extends Pick<DeadLetter, 'queue' | 'messageId' | 'body' | 'sentAt' | 'reason' | 'attempts' | 'failures'> {
  /** For whoever checks what he may be told, and whether he may have it kept is another matter. */
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

export const envelopeOf = ({ body, ...poison }: Poison): string =>
  JSON.stringify({ v: 1, type: 'poison', ...poison, body: compressed(body) });

/** Undefined for what came here by itself. On another queue's dead letters an envelope is a message like any other. */
export function poisonIn(text: string, queue: string): Poison | undefined {
  try {
    const { v: _, type: __, body, ...poison } = Envelope.parse(JSON.parse(text));
    return poison.queue === queue ? { ...poison, body: decompressed(body) } : undefined;
  } catch {
    return undefined;
  }
}
