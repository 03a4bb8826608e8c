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

/** What is put into a message that was put back: since when it has waited. No version gives it another meaning. */
export const since = 'waitsSince';

/**
 * Puts messages back to the queue that they came from, when only a newer version can process them. Resolves to those that have waited for too long, and were not put back.
 * Rejects with the error when it is another one.
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
  telemetry.log('warn', 'left to a newer version of the program', { reason: error.message });
  telemetry.count('newerVersion', messages.length);
  await queues.send(
    waiting.map(({ message, content, delayMs }) => ({
      queue: message.queue,
      body: JSON.stringify({ [since]: timeText(now), ...content }),
      delayMs,
      ...groupOf(message),
    })),
  );
  return messages.filter((each) => !waiting.some(({ message }) => message === each));
}

/** Why a message that was put back until it was too old is dead-lettered; undefined for any other. */
export function waitedProblem(body: string): string | undefined {
  const message = messageFieldsIn(body);
  const began = message && waitsSince(message);
  if (began === undefined) return undefined;
  return `It is for another version. Since ${timeText(began)} no process came that runs that one: deploy it again, then resubmit the message.`;
}

/** Soon, for an order may wait for it; then later and later: what comes twice each time must not become thousands within an hour. */
const delayOf = (ageMs: number): number => Math.min(delayMaxMs, Math.max(requeueMs, 4 * ageMs));
const requeueMs = 5_000;

const waitsSince = (message: MessageFields): number | undefined => {
  const at = Date.parse(String(message[since]));
  return Number.isFinite(at) ? at : undefined;
};
