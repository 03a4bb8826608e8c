import { consumerOf } from '#ports/messages';
import { jsonIn } from '#ports/util/json';
import type { ConsumerObservation } from '#testing/world/consumer-observation';

/** The conversations of the messages that consumers have received. */
export class Conversations {
  /** Whether each message is good, by queue and body. */
  private readonly good = new Map<string, boolean>();
  private readonly byMessage = new Map<string, string>();
  /** Conversations with a message that is not good: its failures count for the whole conversation. */
  private readonly bad = new Set<string>();

  entrusted({ queue, body, isGood }: Extract<ConsumerObservation, { type: 'entrusted' }>): void {
    this.good.set(`${queue} ${body}`, isGood);
  }

  /** Notes the delivery of a message, and returns its conversation with its channel. */
  delivered(queue: string, messageId: string, body: string): string {
    const name = conversationNamed(consumerOf(queue) ?? '', conversationIn(messageId, body));
    this.byMessage.set(messageId, name);
    if (this.good.get(`${queue} ${body}`) !== true) this.bad.add(name);
    return name;
  }

  of(messageId: string): string | undefined {
    return this.byMessage.get(messageId);
  }

  /** Whether the message was delivered, and all messages of its conversation are good. */
  isGood(messageId: string): boolean {
    const name = this.byMessage.get(messageId);
    return name !== undefined && !this.bad.has(name);
  }
}

/** Returns the name of a conversation with its channel, because two channels may have conversations of the same name. */
export const conversationNamed = (channel: string, conversation: string): string => `${channel} ${conversation}`;

/** Returns the conversation of a message as the documentation defines it, without the code of the system. */
function conversationIn(messageId: string, body: string): string {
  const { client, conversation } = (jsonIn(body) ?? {}) as { readonly client?: unknown; readonly conversation?: unknown };
  return typeof conversation === 'string'
    ? `conversation/${typeof client === 'string' ? client : 'anyone'}/${conversation}`
    : `message/${messageId}`;
}
