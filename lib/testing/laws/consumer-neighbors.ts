import { isDeadLetterQueue, sourceQueueOf } from '#ports/messages';
import { type Poison, poisonIn } from '#roles/dead-letters/envelope';
import type { Observation } from '#testing/world/observation';
import { Conversations } from './consumer-conversations.ts';
import { type Law, on, type Setting } from './law.ts';

/** One delivery of a message in a batch. */
interface Delivered {
  readonly messageId: string;
  readonly batch: string;
  beganAt: number | undefined;
  isOver: boolean;
  /** Whether the attempt does not count against the message: its batch was answered, or another message of the batch ended the process. */
  isExempt: boolean;
  /** Calls of ports that failed for the batch since the handler of the message began, or else since the delivery. */
  failedCalls: number;
}

/**
 * The time after the beginning of a handler in which no other handler of the batch begins. If a handler that begins later ends the process,
 * the attempt counts for both messages.
 */
const aloneMs = 2_000;
/** The number of failed calls after which the system may be unable to correct the count for an attempt that was not made. */
const failedCallsMax = 4;

/**
 * A good message is not treated as poison because of its neighbors: it becomes a dead letter only after more failures of its conversation
 * than the policy allows, and each is an attempt that came to nothing for a reason of its own, such as a crash of the process (S52).
 */
export function consumerNeighbors({ now }: Pick<Setting, 'now'>): Law {
  const conversations = new Conversations();
  /** Deliveries by conversation, and by batch. */
  const deliveries = new Map<string, Delivered[]>();
  const batches = new Map<string, Delivered[]>();

  function delivered({ queue, messages, batch = '' }: Extract<Observation, { type: 'delivered' }>): void {
    if (batch === '') return;
    const all = messages.map(({ messageId, body }) => {
      const conversation = conversations.delivered(queue, messageId, body);
      const delivery = { messageId, batch, beganAt: undefined, isOver: false, isExempt: false, failedCalls: 0 };
      deliveries.set(conversation, [...(deliveries.get(conversation) ?? []), delivery]);
      return delivery;
    });
    batches.set(batch, all);
  }

  function handler({ batch, messageId, step }: Extract<Observation, { type: 'handler' }>): void {
    const all = batches.get(batch) ?? [];
    const own = all.find((each) => each.messageId === messageId);
    if (own && step === 'began') Object.assign(own, { beganAt: now(), failedCalls: 0 });
    else if (own) own.isOver = true;
    if (step !== 'killed') return;
    for (const each of all)
      if (each !== own && (each.beganAt === undefined || each.isOver || now() - each.beganAt < aloneMs)) each.isExempt = true;
  }

  /** Returns how many attempts of the message's conversation came to nothing. */
  function attemptsOf(messageId: string): number {
    const all = deliveries.get(conversations.of(messageId) ?? '') ?? [];
    const current = all.findLast((each) => each.messageId === messageId);
    const isWithoutResult = (each: Delivered) => !each.isExempt && !(each === current && each.beganAt === undefined);
    return all.filter((each) => isWithoutResult(each) || each.failedCalls >= failedCallsMax).length;
  }

  function wrongIn({ queue, messageId, reason, failures }: Poison): string | undefined {
    if (!conversations.isGood(messageId)) return undefined;
    const said = `the good message ${messageId} of ${queue} became a dead letter`;
    if (!/^Processing (failed|began) /.test(reason)) return `${said}: ${reason}`;
    const attempts = attemptsOf(messageId);
    return failures > attempts ? `${said} after ${failures} failures, but only ${attempts} attempts came to nothing` : undefined;
  }

  return {
    name: 'consumer neighbors',
    after: on(['entrusted', 'delivered', 'handler', 'call failed', 'answered', 'sent'], (observation) => {
      if (observation.type === 'entrusted') conversations.entrusted(observation);
      if (observation.type === 'delivered') delivered(observation);
      if (observation.type === 'handler') handler(observation);
      if (observation.type === 'call failed') for (const each of batches.get(observation.batch) ?? []) each.failedCalls += 1;
      if (observation.type === 'answered') for (const each of batches.get(observation.batch ?? '') ?? []) each.isExempt = true;
      const poison =
        observation.type === 'sent' && isDeadLetterQueue(observation.queue)
          ? poisonIn(observation.body, sourceQueueOf(observation.queue))
          : undefined;
      return poison && wrongIn(poison);
    }),
  };
}
