import { hash } from 'node:crypto';
import type { Clock } from '#ports/clock';
import { collections, type Documents } from '#ports/documents';
import { queueFigures } from '#ports/limits';
import { isOpenToSenders } from '#ports/messages';
import { channelOf } from '#roles/channels/policy';

const placeOf = (queue: string, envelope: string) =>
  [collections.tracks(channelOf(queue)), `#given-up/${hash('sha256', envelope)}`] as const;

interface NotingPorts {
  readonly store: Pick<Documents, 'putDocument'>;
  readonly clock: Clock;
}

/**
 * Records an envelope before it is sent. On a queue that is open to senders, a sender could write a forged envelope as a message, and the
 * queue would redrive it like any other message. The record proves that an envelope is genuine, because senders cannot write to the store.
 */
export async function noteGivenUp(queue: string, envelope: string, { store, clock }: NotingPorts): Promise<void> {
  if (!isOpenToSenders(queue)) return;
  const [collection, id] = placeOf(queue, envelope);
  await store.putDocument({ collection, id, rev: 1, content: { isNote: true }, expiresAt: clock.now() + queueFigures.keptMs }, 0);
}

/**
 * Whether a function of the system, and not a sender, wrote this envelope. A failure count proves nothing, because a sender chooses its id.
 */
export async function wasGivenUp(queue: string, envelope: string, store: Pick<Documents, 'document'>): Promise<boolean> {
  return !isOpenToSenders(queue) || (await store.document(...placeOf(queue, envelope)))?.content['isNote'] === true;
}
