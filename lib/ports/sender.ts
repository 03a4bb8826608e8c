import type { Destination } from '#core/notifications/delivery';
import type { PeopleMessage } from '#core/notifications/message';

/** Result of one try. `reason`: a sentence for people, without secrets. */
export type SendResult = { readonly outcome: 'delivered' } | { readonly outcome: 'failed'; readonly reason: string };

/** Sends messages to people, at least once: a try that fails may have been delivered. It never rejects for a destination's failure. */
export interface Sender {
  send(message: PeopleMessage, destination: Destination): Promise<SendResult>;
}
