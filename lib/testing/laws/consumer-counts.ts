import type { Observation } from '#testing/world/observation';
import { Conversations, conversationNamed } from './consumer-conversations.ts';
import { type Law, on } from './law.ts';

/** A redelivered message that was handled, while its conversation had failures. */
interface Success {
  readonly batch: string;
  readonly messageId: string;
  readonly conversation: string;
}

/** The success of a redelivered message clears the failure count of its conversation, unless a call of a port fails for its batch (S53). */
export function consumerCounts(): Law {
  const conversations = new Conversations();
  const delivered = new Set<string>();
  /** Deliveries of messages that were delivered before, by batch and message. */
  const redelivered = new Set<string>();
  const failures = new Map<string, number>();
  /** Successes whose conversation still has its count. */
  let open: readonly Success[] = [];
  /** Batches in which a call of a port failed. */
  const faulty = new Set<string>();

  function answered({ batch, failed }: Extract<Observation, { type: 'answered' }>): string | undefined {
    const left = open.find((each) => each.batch === batch && !failed.includes(each.messageId));
    open = open.filter((each) => each.batch !== batch);
    return left && !faulty.has(left.batch)
      ? `conversation ${left.conversation} still has ${failures.get(left.conversation)} failures after the success of message ${left.messageId}`
      : undefined;
  }

  return {
    name: 'consumer counts',
    after: on(['delivered', 'handler', 'failures counted', 'call failed', 'answered'], (observation) => {
      if (observation.type === 'delivered' && observation.batch !== undefined)
        for (const { messageId, body } of observation.messages) {
          conversations.delivered(observation.queue, messageId, body);
          if (delivered.has(messageId)) redelivered.add(`${observation.batch} ${messageId}`);
          delivered.add(messageId);
        }
      if (observation.type === 'handler' && observation.step === 'handled') {
        const { batch, messageId } = observation;
        const conversation = conversations.of(messageId) ?? '';
        if (redelivered.has(`${batch} ${messageId}`) && (failures.get(conversation) ?? 0) > 0)
          open = [...open, { batch, messageId, conversation }];
      }
      if (observation.type === 'failures counted') {
        const name = conversationNamed(observation.channel, observation.conversation);
        failures.set(name, observation.failures);
        if (observation.failures === 0) open = open.filter(({ conversation }) => conversation !== name);
      }
      if (observation.type === 'call failed') faulty.add(observation.batch);
      return observation.type === 'answered' ? answered(observation) : undefined;
    }),
  };
}
