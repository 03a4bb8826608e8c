import type { Clock } from '#ports/clock';
import { NewerMessageError, rolloutMs } from '#ports/errors';
import { timeText } from '#ports/messages';
import { delayMaxMs, groupOf, type Outgoing, type Queues } from '#ports/queues';
import type { Telemetry } from '#ports/telemetry';
import { type MessageFields, messageFieldsIn } from './conversation.ts';

export interface RequeuePorts {
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Field of a requeued message: since when it waits. Every version must keep this meaning. */
export const waitsSinceField = 'waitsSince';

/**
 * Requeues messages that only a newer version can process. Resolves to the messages that were not requeued, because they have waited too
 * long or cannot be read. Rejects with `error` if it is not a NewerMessageError.
 */
export async function requeue<M extends Outgoing>(
  messages: readonly M[],
  error: unknown,
  { queues, clock, telemetry }: RequeuePorts,
): Promise<readonly M[]> {
  if (!(error instanceof NewerMessageError)) throw error;
  const now = clock.now();
  const waiting = messages.flatMap((message) => {
    const content = messageFieldsIn(message.body);
    const ageMs = content ? now - (waitsSince(content) ?? now) : rolloutMs;
    return ageMs < rolloutMs ? [{ message, content, delayMs: delayOf(ageMs) }] : [];
  });
  telemetry.log('warn', 'messages need a newer version', { reason: error.message });
  telemetry.count('newerVersion', messages.length);
  await queues.send(
    waiting.map(({ message, content, delayMs }) => ({
      queue: message.queue,
      body: JSON.stringify({ [waitsSinceField]: timeText(now), ...content }),
      delayMs,
      ...groupOf(message),
    })),
  );
  return messages.filter((each) => !waiting.some(({ message }) => message === each));
}

/** Returns the reason to dead-letter a message that was requeued until it was too old; undefined for any other message. */
export function waitedProblem(body: string): string | undefined {
  const message = messageFieldsIn(body);
  const began = message && waitsSince(message);
  if (began === undefined) return undefined;
  return `This message needs another version of the app, and has waited for it since ${timeText(began)}. Deploy that version, then resubmit the message.`;
}

/**
 * Returns a delay that grows with the age of a message. It starts short, because an order may wait for the message. It grows, because a
 * crash after a send doubles the message, and each copy is requeued.
 */
const delayOf = (ageMs: number): number => Math.min(delayMaxMs, Math.max(requeueMs, 4 * ageMs));
const requeueMs = 5_000;

const waitsSince = (message: MessageFields): number | undefined => {
  const at = Date.parse(String(message[waitsSinceField]));
  return Number.isFinite(at) ? at : undefined;
};
