import type { App } from '#authoring/workflow';
import type { JsonObject } from '#core/data/json';
import type { Clock } from '#ports/clock';
import type { Delivery } from '#ports/delivery';
import { collections, type Documents } from '#ports/documents';
import type { Publisher } from '#ports/event-bus';
import { timeText } from '#ports/messages';
import { inGroup, type Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { channelOf, policyOf } from '#roles/channels/policy';
import { conversationOf, messageFieldsIn } from './conversation.ts';
import { type DeadLetter, deadLetterDocument, deadLetterId, deadLetterIn } from './dead-letter.ts';
import { type Poison, poisonIn } from './envelope.ts';
import { wasGivenUp } from './envelope-note.ts';
import { changeFailureCount, readFailureCount } from './failure-counts.ts';
import { notifySender } from './notify-sender.ts';
import { failuresText } from './outcome.ts';
import { waitedProblem } from './requeue.ts';

export interface DeadLetterPorts {
  readonly app: App;
  readonly store: Documents & Pick<Store, 'client' | 'head'>;
  readonly queues: Pick<Queues, 'send'>;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Keeps one message for a person, who is told; and tells its sender where its conversation ends by that. Again is the same. */
export type DeadLettering = (delivery: Delivery) => Promise<void>;

export function createDeadLettering({ app, store, queues, publisher, clock, telemetry }: DeadLetterPorts): DeadLettering {
  const trackOf = ({ queue, messageId, body }: Pick<Poison, 'queue' | 'messageId' | 'body'>) => ({
    channel: channelOf(queue),
    conversation: conversationOf({ queue, messageId, body }),
  });

  /** What came by itself: it was delivered too often. Whether that was its own fault, its track knows. */
  async function redriven({ senderId, body, messageId, sentAt }: Delivery, queue: string): Promise<Poison> {
    const { count: track } = await readFailureCount(trackOf({ queue, messageId, body }), store, clock.now());
    const { attempts = [], failures = 0 } = track ?? {};
    const reason = waitedProblem(body) ?? (track ? failuresText(track) : 'It was delivered too often without success.');
    return { queue, messageId, sentAt, body, reason, attempts, failures, ...(senderId === undefined ? {} : { senderId }) };
  }

  /** Where it stands already, this was done before, up to somewhere: then what stands is told again. */
  async function keep(message: DeadLetter): Promise<DeadLetter> {
    const write = await store.putDocument(deadLetterDocument(message), 0);
    if (write.outcome === 'refused') return write.current ? deadLetterIn(write.current) : message;
    telemetry.count('messageDeadLettered');
    return message;
  }

  /** Of messages that only met an outage there may be many: people are told of the first of a queue, once an hour. */
  async function isFirst({ id: by, queue }: DeadLetter): Promise<boolean> {
    const now = clock.now();
    const id = `#told/${queue}/${Math.floor(now / announceEveryMs)}`;
    const document = { collection: collections.tracks(channelOf(queue)), id, rev: 1, content: { by }, expiresAt: now + announceEveryMs };
    const write = await store.putDocument(document, 0);
    // Whoever noted it and died before it was told comes again.
    return write.outcome === 'written' || write.current?.content['by'] === by;
  }

  async function tell(kept: DeadLetter): Promise<void> {
    const { failed } = await publisher.publish([{ id: kept.id, detailType: 'Poison Message Dead-Lettered', detail: detailOf(kept) }]);
    if (failed.length > 0) throw new Error('The announcement was not taken.');
  }

  return async (delivery) => {
    const queue = delivery.queue.replace(/-dead$/, '');
    const policy = policyOf(channelOf(queue), app.channels);
    const envelope = poisonIn(delivery.body, queue);
    const givenUp = envelope && (await wasGivenUp(queue, delivery.body, store)) ? envelope : undefined;
    const poison = givenUp ?? (await redriven(delivery, queue));
    // What was only delivered too often met an outage: its step is asked again, and a submission may still become an order.
    const isJudged = givenUp !== undefined || poison.failures > policy.maxFailures;
    const kept = await keep(deadLetterOf(poison, { at: clock.now(), keepsSender: policy.logsSender }));
    if (isJudged || (await isFirst(kept))) await tell(kept);
    if (isJudged && policy.conversation === 'ends')
      await notifySender(poison, kept.id, { store, queues: inGroup(queues, delivery.group), clock });
    await changeFailureCount(trackOf(poison), () => undefined, { store, now: clock.now() });
  };
}

function deadLetterOf(
  { senderId, ...poison }: Poison,
  { at, keepsSender }: { readonly at: number; readonly keepsSender: boolean },
): DeadLetter {
  const { orderId, type } = messageFieldsIn(poison.body) ?? {};
  return {
    id: deadLetterId(poison),
    ...poison,
    deadAt: at,
    ...(keepsSender && senderId !== undefined ? { senderId } : {}),
    ...(typeof orderId === 'string' ? { orderId: orderId.slice(0, charactersMax) } : {}),
    ...(typeof type === 'string' ? { type: type.slice(0, charactersMax) } : {}),
  };
}

const announceEveryMs = 3_600_000;

/** Of what somebody else has written, so much is shown where it is only to be told apart. */
const charactersMax = 256;

const detailOf = ({ id, orderId, queue, failures, reason, deadAt }: DeadLetter): JsonObject => ({
  id,
  ...(orderId === undefined ? {} : { orderId }),
  at: timeText(deadAt),
  class: 'application-failure',
  type: 'PoisonMessage',
  source: queue,
  before: 'queued',
  after: 'dead-lettered',
  failureCount: failures,
  message: reason,
});
