import type { App } from '../authoring/workflow.ts';
import { type Channel, inGroup } from '../channel.ts';
import type { Clock } from '../clock.ts';
import type { JsonObject } from '../core/json.ts';
import type { Delivery } from '../delivery.ts';
import { collections, type Documents } from '../documents.ts';
import { timeText } from '../messages.ts';
import type { Publisher } from '../publisher.ts';
import { waitedProblem } from '../put-back.ts';
import type { Store } from '../store.ts';
import type { Telemetry } from '../telemetry.ts';
import { conversationOf, saidIn } from './conversation.ts';
import { type Poison, poisonIn } from './envelope.ts';
import { wasGivenUp } from './given-up.ts';
import { storyOf } from './judge.ts';
import { channelOf, policyOf } from './policy.ts';
import { type SetAside, setAsideDocument, setAsideId, setAsideIn } from './set-aside.ts';
import { tellSender } from './telling.ts';
import { changeTrack, readTrack } from './tracks.ts';

export interface DeadLetterPorts {
  readonly app: App;
  readonly store: Documents & Pick<Store, 'client' | 'head'>;
  readonly channel: Pick<Channel, 'send'>;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Keeps one message for a person, who is told; and tells its sender where its conversation ends by that. Again is the same. */
export type SettingAside = (delivery: Delivery) => Promise<void>;

export function createSettingAside({ app, store, channel, publisher, clock, telemetry }: DeadLetterPorts): SettingAside {
  const trackOf = ({ queue, messageId, body }: Pick<Poison, 'queue' | 'messageId' | 'body'>) => ({
    channel: channelOf(queue),
    conversation: conversationOf({ queue, messageId, body }),
  });

  /** What came by itself: it was delivered too often. Whether that was its own fault, its track knows. */
  async function redriven({ senderId, body, messageId, sentAt }: Delivery, queue: string): Promise<Poison> {
    const { track } = await readTrack(trackOf({ queue, messageId, body }), store, clock.now());
    const { attempts = [], failures = 0 } = track ?? {};
    const reason = waitedProblem(body) ?? (track ? storyOf(track) : 'It was delivered too often without success.');
    return { queue, messageId, sentAt, body, reason, attempts, failures, ...(senderId === undefined ? {} : { senderId }) };
  }

  /** Where it stands already, this was done before, up to somewhere: then what stands is told again. */
  async function keep(message: SetAside): Promise<SetAside> {
    const write = await store.putDocument(setAsideDocument(message), 0);
    if (write.outcome === 'refused') return write.current ? setAsideIn(write.current) : message;
    telemetry.count('messageSetAside');
    return message;
  }

  /** Of messages that only met an outage there may be many: people are told of the first of a queue, once an hour. */
  async function isFirst({ id: by, queue }: SetAside): Promise<boolean> {
    const now = clock.now();
    const id = `#told/${queue}/${Math.floor(now / toldEveryMs)}`;
    const document = { collection: collections.tracks(channelOf(queue)), id, rev: 1, content: { by }, expiresAt: now + toldEveryMs };
    const write = await store.putDocument(document, 0);
    // Whoever noted it and died before it was told comes again.
    return write.outcome === 'written' || write.current?.content['by'] === by;
  }

  async function tell(kept: SetAside): Promise<void> {
    const { failed } = await publisher.publish([{ id: kept.id, detailType: 'Poison Message Set Aside', detail: detailOf(kept) }]);
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
    const kept = await keep(setAsideOf(poison, { at: clock.now(), keepsSender: policy.logsSender }));
    if (isJudged || (await isFirst(kept))) await tell(kept);
    if (isJudged && policy.conversation === 'ends')
      await tellSender(poison, kept.id, { store, channel: inGroup(channel, delivery.group), clock });
    await changeTrack(trackOf(poison), () => undefined, { store, now: clock.now() });
  };
}

function setAsideOf(
  { senderId, ...poison }: Poison,
  { at, keepsSender }: { readonly at: number; readonly keepsSender: boolean },
): SetAside {
  const { orderId, type } = saidIn(poison.body) ?? {};
  return {
    id: setAsideId(poison),
    ...poison,
    setAsideAt: at,
    ...(keepsSender && senderId !== undefined ? { senderId } : {}),
    ...(typeof orderId === 'string' ? { orderId: orderId.slice(0, charactersMax) } : {}),
    ...(typeof type === 'string' ? { type: type.slice(0, charactersMax) } : {}),
  };
}

const toldEveryMs = 3_600_000;

/** Of what somebody else has written, so much is shown where it is only to be told apart. */
const charactersMax = 256;

const detailOf = ({ id, orderId, queue, failures, reason, setAsideAt }: SetAside): JsonObject => ({
  id,
  ...(orderId === undefined ? {} : { orderId }),
  at: timeText(setAsideAt),
  class: 'application-failure',
  type: 'PoisonMessage',
  source: queue,
  before: 'queued',
  after: 'set aside',
  failureCount: failures,
  message: reason,
});
