import type { App } from '#authoring/workflow';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import type { Delivery } from '#ports/delivery';
import type { Documents } from '#ports/documents';
import type { Keys } from '#ports/keys';
import { isOpenToSenders, queueNames } from '#ports/messages';
import { groupOf, type Queues } from '#ports/queues';
import type { Telemetry } from '#ports/telemetry';
import { shortened } from '#ports/util/text';
import { encryptedText } from '#roles/secrets/texts';
import { reasonCharactersMax } from './dead-letter.ts';
import { aboutEnvelope, envelopeOf } from './envelope.ts';
import { noteGivenUp } from './envelope-note.ts';
import type { FailureCount } from './failure-counts.ts';
import { logDelivery } from './log-fields.ts';

export interface HandOverPorts {
  readonly app: Pick<App, 'channels'>;
  readonly store: Documents;
  readonly queues: Queues;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly definitions: Definitions;
  /** The keys that encrypt messages from outside, which hold secrets as their senders wrote them. */
  readonly keys?: Keys | undefined;
}

/** Sends a message with its failures to the dead-letter queue. The consumer of that queue keeps it for an operator. */
export async function handOver(
  delivery: Delivery,
  reason: string,
  { attempts, failures }: FailureCount,
  ports: HandOverPorts,
): Promise<void> {
  const { store, queues, clock, telemetry, keys } = ports;
  const { queue, messageId, sentAt, senderId } = delivery;
  const sender = senderId === undefined ? {} : { senderId };
  // Encrypt first: `noteGivenUp` records a hash of the envelope, and the hash of a plain body could be guessed.
  const body = keys && isOpenToSenders(queue) ? await encryptedText(delivery.body, aboutEnvelope(queue, messageId), keys) : delivery.body;
  const short = shortened(reason, reasonCharactersMax);
  const poison = envelopeOf({ queue, messageId, sentAt, ...sender, reason: short, attempts, failures, body });
  await noteGivenUp(queue, poison, { store, clock });
  await queues.send([{ queue: queueNames.deadLetters(queue), body: poison, ...groupOf(delivery) }]);
  logDelivery('warn', 'dead-lettered message', delivery, { reason: short, failures }, ports);
  telemetry.count('givenUp');
}
