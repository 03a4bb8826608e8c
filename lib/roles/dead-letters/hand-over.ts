import type { App } from '#authoring/workflow';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import type { Delivery } from '#ports/delivery';
import type { Documents } from '#ports/documents';
import { queueNames } from '#ports/messages';
import { groupOf, type Queues } from '#ports/queues';
import type { Telemetry } from '#ports/telemetry';
import { envelopeOf } from './envelope.ts';
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
}

/** Sends a message with its failures to the dead-letter queue. The consumer of that queue keeps it for an operator. */
export async function handOver(
  delivery: Delivery,
  reason: string,
  { attempts, failures }: FailureCount,
  ports: HandOverPorts,
): Promise<void> {
  const { store, queues, clock, telemetry } = ports;
  const { queue, messageId, sentAt, senderId, body } = delivery;
  const sender = senderId === undefined ? {} : { senderId };
  const poison = envelopeOf({ queue, messageId, sentAt, ...sender, reason, attempts, failures, body });
  await noteGivenUp(queue, poison, { store, clock });
  await queues.send([{ queue: queueNames.deadLetters(queue), body: poison, ...groupOf(delivery) }]);
  logDelivery('warn', 'dead-lettered message', delivery, { reason, failures }, ports);
  telemetry.count('givenUp');
}
