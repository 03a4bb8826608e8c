import type { App } from '#authoring/workflow';
import type { Clock } from '#ports/clock';
import type { Delivery } from '#ports/delivery';
import { collections, type Documents } from '#ports/documents';
import type { Announcement, Publisher } from '#ports/event-bus';
import type { Keys } from '#ports/keys';
import { sourceQueueOf } from '#ports/messages';
import { inGroup, type Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { alertOf, publishAlert } from '#ports/util/alert';
import { channelOf, policyOf } from '#roles/channels/policy';
import { openedText } from '#roles/secrets/texts';
import { messageFieldsIn } from './conversation.ts';
import { type DeadLetter, deadLetterDocument, deadLetterId, deadLetterIn } from './dead-letter.ts';
import { aboutEnvelope, type Poison, poisonIn } from './envelope.ts';
import { wasGivenUp } from './envelope-note.ts';
import { createFailureCounts, failuresText } from './failure-counts.ts';
import { sealedLetter } from './kept-body.ts';
import { notifySender } from './notify-sender.ts';
import { waitedProblem } from './requeue.ts';

export interface DeadLetterPorts {
  readonly app: App;
  readonly store: Documents & Pick<Store, 'client' | 'head'>;
  readonly queues: Pick<Queues, 'send'>;
  /** The keys that encrypt the bodies. Absent: the bodies are stored in plain text. */
  readonly keys?: Keys | undefined;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Function that keeps one message as a dead letter, alerts operators, and notifies the sender if the conversation ends. Idempotent. */
export type DeadLettering = (delivery: Delivery) => Promise<void>;

export function createDeadLettering({ app, store, queues, publisher, clock, telemetry, keys }: DeadLetterPorts): DeadLettering {
  const counts = createFailureCounts({ store, clock });

  /**
   * Returns a message that the queue redrove after too many deliveries. The failure count shows whether the content of the message caused
   * these deliveries.
   */
  async function redriven({ senderId, body, messageId, sentAt }: Delivery, queue: string): Promise<Poison> {
    const { count } = await counts.read({ queue, messageId, body });
    const { attempts = [], failures = 0 } = count ?? {};
    const reason = waitedProblem(body) ?? (count ? failuresText(count) : 'The queue delivered the message too many times without success.');
    return { queue, messageId, sentAt, body, reason, attempts, failures, ...(senderId === undefined ? {} : { senderId }) };
  }

  /**
   * Stores a dead letter. If it exists already, an earlier delivery of the message was interrupted: returns the stored dead letter, to
   * announce it again.
   */
  async function keep(message: DeadLetter): Promise<DeadLetter> {
    const write = await store.putDocument(deadLetterDocument(await sealedLetter(message, keys)), 0);
    if (write.outcome === 'refused') return write.current ? deadLetterIn(write.current) : message;
    telemetry.count('messageDeadLettered');
    return message;
  }

  /**
   * Whether a message that only met an outage is the first one of its queue within the hour: the others lead to no alert, because there may
   * be many.
   */
  async function isFirstThisHour({ id: by, queue }: DeadLetter): Promise<boolean> {
    const now = clock.now();
    const id = `#told/${queue}/${Math.floor(now / announceEveryMs)}`;
    const document = { collection: collections.tracks(channelOf(queue)), id, rev: 1, content: { by }, expiresAt: now + announceEveryMs };
    const write = await store.putDocument(document, 0);
    // After a crash between this record and the alert, the message is redelivered and finds its own id here.
    return write.outcome === 'written' || write.current?.content['by'] === by;
  }

  const opened = async (poison: Poison | undefined): Promise<Poison | undefined> =>
    poison && { ...poison, body: await openedText(poison.body, aboutEnvelope(poison.queue, poison.messageId), keys) };

  return async (delivery) => {
    const queue = sourceQueueOf(delivery.queue);
    const policy = policyOf(channelOf(queue), app.channels);
    const envelope = await opened(poisonIn(delivery.body, queue));
    const givenUp = envelope && (await wasGivenUp(queue, delivery.body, store)) ? envelope : undefined;
    const poison = givenUp ?? (await redriven(delivery, queue));
    // A message that was delivered too often, but has few counted failures, has met an outage. Its sender is not notified: the step is
    // requested again, or the order may still be accepted.
    const isJudged = givenUp !== undefined || poison.failures > policy.maxFailures;
    const kept = await keep(deadLetterOf(poison, { at: clock.now(), keepsSender: policy.logsSender }));
    if (isJudged || (await isFirstThisHour(kept))) await publishAlert(publisher, alertAbout(kept));
    if (isJudged && policy.conversation === 'ends')
      await notifySender(poison, kept.id, { store, queues: inGroup(queues, delivery.group), clock });
    await counts.change(poison, () => undefined);
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

/** Length limit of ids and types from a message, which may be arbitrary texts. */
const charactersMax = 256;

const alertAbout = ({ id, orderId, queue, failures, reason, deadAt }: DeadLetter): Announcement =>
  alertOf('Message Dead-Lettered', {
    id,
    orderId,
    at: deadAt,
    class: 'application-failure',
    type: 'PoisonMessage',
    source: queue,
    before: 'queued',
    after: 'dead-lettered',
    failureCount: failures,
    message: reason,
  });
