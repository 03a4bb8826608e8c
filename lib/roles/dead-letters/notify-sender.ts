import * as z from 'zod';
import { isSenderOf } from '#ports/clients';
import type { Clock } from '#ports/clock';
import { agentOfRequests, attemptFields, ConsumerMessage, consumerOf, isRepeated, queueNames, type Reply, timeText } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import { orderIdOf } from '#roles/submission/submission';
import { messageFieldsIn } from './conversation.ts';
import type { Poison } from './envelope.ts';

interface NotifyPorts {
  readonly store: Pick<Store, 'client' | 'head'>;
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Clock;
}

const message = 'Unable to process message.';

const { v: _, ...namesOfAttempt } = attemptFields;
/** Fields that a request needs to receive a reply, whatever else is wrong with it. */
const RequestFields = z.object({
  ...namesOfAttempt,
  completeBy: z.iso.datetime().optional().catch(undefined),
  confirming: z.literal(true).optional().catch(undefined),
  newKey: z.literal(true).optional().catch(undefined),
  requeued: z.int().optional().catch(undefined),
  resent: z.literal(true).optional().catch(undefined),
});
const Submitted = z.object({
  client: z.string(),
  idempotencyKey: z.string(),
  responseChannel: z.string(),
  reference: z.string().optional().catch(undefined),
});

/** Fields that the sender of a consumer's message needs to receive an error, whatever else is wrong with the message. */
const SenderFields = z.object({
  client: z.string(),
  responseChannel: z.string(),
  conversation: ConsumerMessage.shape.conversation.catch(undefined),
  reference: ConsumerMessage.shape.reference.catch(undefined),
});

/** Sends an error to the sender of a message, if the sender waits for an answer. This ends the conversation. */
export async function notifySender(poison: Poison, deadLetter: string, ports: NotifyPorts): Promise<void> {
  const { queue } = poison;
  if (queue === queueNames.submissions) return notifyClient(poison, ports);
  const consumer = consumerOf(queue);
  if (consumer !== undefined) return notifyConsumerSender(consumer, poison, deadLetter, ports);
  const agent = agentOfRequests(queue);
  if (agent !== undefined) await notifyScheduler(agent, poison, deadLetter, ports);
}

async function notifyScheduler(agent: string, poison: Poison, deadLetter: string, { queues, clock }: NotifyPorts): Promise<void> {
  const said = messageFieldsIn(poison.body);
  const { data: request } = RequestFields.safeParse(said);
  if (!request || said?.['type'] === 'cancel') return;
  const { confirming, newKey, requeued, resent, completeBy, ...its } = request;
  const isUnknown = isRepeated({ attempt: its.attempt, newKey, confirming, requeued, resent }) || mayBeDone(poison);
  // As with any reply, none is sent after the deadline: a later attempt may have begun by now.
  if (completeBy !== undefined && clock.now() > Date.parse(completeBy)) return;
  const reply: Reply = {
    v: 1,
    type: 'reply',
    ...its,
    sentAt: timeText(clock.now()),
    result: { status: 'rejected', code: 500, message, deadLetter, ...(isUnknown ? { outcomeUnknown: true } : {}) },
  };
  await queues.send([{ queue: queueNames.replies(agent), body: JSON.stringify(reply) }]);
}

/** Whether an attempt may have had the effect, for example before its process crashed. */
const mayBeDone = ({ attempts, failures }: Poison): boolean =>
  failures > attempts.length || attempts.some(({ nothingDone }) => !nothingDone);

/** Notifies a client on its registered response queue. Requires a registered sender. Sends nothing if the order was stored after all. */
async function notifyClient({ body, senderId }: Poison, { store, queues, clock }: NotifyPorts): Promise<void> {
  const { data: submitted } = Submitted.safeParse(messageFieldsIn(body));
  if (!submitted || senderId === undefined) return;
  const { client, idempotencyKey, responseChannel, reference } = submitted;
  if (!(await maySpeakFor({ client, responseChannel }, senderId, store))) return;
  if (await store.head(orderIdOf(client, idempotencyKey))) return;
  const status = {
    v: 1,
    type: 'status',
    ...(reference === undefined ? {} : { reference }),
    idempotencyKey,
    seq: 1,
    status: 'refused',
    errors: [{ pointer: '', code: 'internal', detail: message }],
    at: timeText(clock.now()),
  };
  await queues.send([{ queue: queueNames.response(responseChannel), body: JSON.stringify(status) }]);
}

/** Whether this sender is registered for the client, and the response queue too. */
async function maySpeakFor(
  { client, responseChannel }: { readonly client: string; readonly responseChannel: string },
  senderId: string,
  store: NotifyPorts['store'],
): Promise<boolean> {
  const registered = await store.client(client);
  return registered !== undefined && isSenderOf(registered, senderId) && registered.responseChannels.includes(responseChannel);
}

/** Tells the sender of a message for a consumer that the conversation has ended with an error. Requires a registered sender, as for a client. */
async function notifyConsumerSender(
  consumer: string,
  poison: Poison,
  deadLetter: string,
  { store, queues, clock }: NotifyPorts,
): Promise<void> {
  const { data: said } = SenderFields.safeParse(messageFieldsIn(poison.body));
  if (!said || poison.senderId === undefined || !(await maySpeakFor(said, poison.senderId, store))) return;
  const { responseChannel, conversation, reference } = said;
  const error = {
    v: 1,
    type: 'error',
    consumer,
    ...(conversation === undefined ? {} : { conversation }),
    ...(reference === undefined ? {} : { reference }),
    code: 500,
    message,
    deadLetter,
    ...(mayBeDone(poison) ? { outcomeUnknown: true } : {}),
    at: timeText(clock.now()),
  };
  await queues.send([{ queue: queueNames.response(responseChannel), body: JSON.stringify(error) }]);
}
