import type { Destination } from '#core/notifications/delivery';
import type { PeopleMessage } from '#core/notifications/message';

/** Result of one try. `reason`: a sentence for people, without secrets. */
export type SendResult = { readonly outcome: 'delivered' } | { readonly outcome: 'failed'; readonly reason: string };

/**
 * Sends messages to people, at least once: a message may have been delivered although its try failed. It never rejects for a destination's
 * failure.
 */
export interface Sender {
  send(message: PeopleMessage, destination: Destination): Promise<SendResult>;
}
