import { hash } from 'node:crypto';
import type { Clock } from '#ports/clock';
import { collections, type Documents } from '#ports/documents';
import { queueFigures } from '#ports/limits';
import { queueNames } from '#ports/messages';
import { channelOf } from '#roles/channels/policy';

/** Clients send to this queue themselves. What a client writes may look like a message that was given up, and a queue that gives it up shows nothing of that. */
const isOpenToClients = (queue: string): boolean => queue === queueNames.submissions;

const placeOf = (queue: string, envelope: string) =>
  [collections.tracks(channelOf(queue)), `#given-up/${hash('sha256', envelope)}`] as const;

interface NotingPorts {
  readonly store: Pick<Documents, 'putDocument'>;
  readonly clock: Clock;
}

/** Notes an envelope before it is sent, where no client can write: that is why it is believed. */
export async function noteGivenUp(queue: string, envelope: string, { store, clock }: NotingPorts): Promise<void> {
  if (!isOpenToClients(queue)) return;
  const [collection, id] = placeOf(queue, envelope);
  await store.putDocument({ collection, id, rev: 1, content: {}, expiresAt: clock.now() + queueFigures.keptMs }, 0);
}

/** Whether a function of the system has given up what an envelope says, and nobody else has written it. */
export async function wasGivenUp(queue: string, envelope: string, store: Pick<Documents, 'document'>): Promise<boolean> {
  return !isOpenToClients(queue) || (await store.document(...placeOf(queue, envelope))) !== undefined;
}
