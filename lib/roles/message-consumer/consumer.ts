import { type ClientOrders, type ConsumerDefinition, endingTypes, type MessageContext } from '#authoring/consumer';
import { PermanentFailure, TransientFailure, UnprocessableMessage } from '#authoring/fault';
import { issuesOf } from '#authoring/schema';
import { isProgrammingError } from '#core/data/thrown';
import type { Breakers } from '#ports/circuit-breaker';
import type { Clock } from '#ports/clock';
import type { Credentials } from '#ports/credentials';
import type { Delivery } from '#ports/delivery';
import { UnreadableMessageError } from '#ports/errors';
import { ConsumerMessage, newerProblem } from '#ports/messages';
import type { Telemetry } from '#ports/telemetry';
import { jsonIn } from '#ports/util/json';
import { inLinearTime } from '#ports/util/validation';
import { CircuitGuard, type Permit } from '#roles/agent/circuit-guard';
import { withoutSecretsIn } from '#roles/agent/secrets';

export interface ConsumerPorts {
  readonly store: Breakers;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly credentials: Credentials;
  /** Returns the access to orders that a handler has while it handles a message. */
  readonly ordersFor: (messageId: string) => ClientOrders;
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

export interface Consume {
  /** Handles one delivery. Rejects if the message could not be handled; the failure policy then decides about it. */
  (delivery: Delivery, stopping: AbortSignal): Promise<void>;
  /** Notes that a batch of messages has arrived. */
  arrived(): void;
}

/**
 * Creates the server of a consumer's messages. The consumer has a circuit breaker like that of an agent: after an outage, and after an
 * opening with a canary, one message goes first.
 */
export function createConsumer(
  { name, types }: ConsumerDefinition,
  { store, clock, telemetry, credentials, ordersFor, random = Math.random }: ConsumerPorts,
): Consume {
  const guard = new CircuitGuard(name, { breakers: store, clock, telemetry, random });

  /** Returns the function that handles a message, with the body checked; undefined for a message that only ends its conversation. */
  function prepared(message: ConsumerMessage): ((context: MessageContext) => unknown) | undefined {
    if (endingTypes.includes(message.type)) return undefined;
    const type = Object.hasOwn(types, message.type) ? types[message.type] : undefined;
    if (!type)
      throw new UnreadableMessageError(
        `The consumer "${name}" has no message type "${message.type}". Expected one of: ${Object.keys(types).join(', ')}.`,
      );
    const body = inLinearTime(type.body).safeParse(message.body ?? null);
    if (!body.success)
      throw new UnreadableMessageError(`The body of this ${message.type} does not match its schema: ${issuesOf(body.error)}.`);
    return (context) => type.handle(body.data as never, context);
  }

  /** Returns a permit to handle a message; rejects if others go first. */
  async function permitFor({ messageId, group }: Delivery): Promise<Permit> {
    const call = { orderId: messageId, client: group };
    const permit = guard.isClosed ? guard.enter(call) : await guard.acquirePermit(call, { repeated: false });
    if (!permit)
      throw new TransientFailure(`The consumer "${name}" puts this message off: another message is tried first, and this one comes again.`);
    return permit;
  }

  async function consume(delivery: Delivery, stopping: AbortSignal): Promise<void> {
    const message = messageIn(delivery.body);
    const handle = prepared(message);
    if (!handle) return;
    const secrets: string[] = [];
    const { messageId, receiveCount, sentAt, senderId } = delivery;
    const permit = await permitFor(delivery);
    try {
      await handle({
        conversation: message.conversation,
        messageId,
        delivery: receiveCount,
        sentAt: new Date(sentAt),
        senderId,
        orders: ordersFor(messageId),
        credential: (credential) => credentialIn(credential, credentials, secrets),
        signal: stopping,
      });
      await permit.answered();
    } catch (error) {
      await reportToGuard(permit, error, stopping);
      throw judged(withoutSecretsIn(error, secrets));
    }
  }

  return Object.assign(consume, { arrived: () => guard.arrived() });
}

function messageIn(body: string): ConsumerMessage {
  const given = jsonIn(body);
  const message = ConsumerMessage.safeParse(given).data;
  if (!message) throw newerProblem(given) ?? new UnreadableMessageError('This is not a valid message for a consumer.');
  return message;
}

/**
 * Reports a failure to the circuit breaker, as an agent does: an error that the content has caused says nothing about an outage. But any
 * error of a probe counts as a failure: after an opening with a canary, such errors may be what closed the channel.
 */
async function reportToGuard(permit: Permit, error: unknown, stopping: AbortSignal): Promise<void> {
  const isOfContent = error instanceof PermanentFailure || error instanceof UnprocessableMessage;
  if (stopping.aborted) permit.release();
  else if (permit.isProbe) await permit.failed();
  else if (isOfContent) await permit.answered();
  else if (isProgrammingError(error)) permit.release();
  else await permit.failed();
}

/** Returns the error by which the failure policy classifies a message: no attempt can help after a permanent failure. */
const judged = (error: unknown): unknown =>
  error instanceof PermanentFailure ? new UnreadableMessageError(`${error.type}: ${error.message}`, { cause: error }) : error;

async function credentialIn(name: string, credentials: Credentials, secrets: string[]): Promise<string> {
  const value = await credentials.read(name).catch(() => undefined);
  // The message is not at fault, so it waits until the credential is there.
  if (value === undefined || value === '')
    throw new TransientFailure(
      `The credential ${name} is not set, or cannot be read at present. Set the variable ${name} or ${name}_FILE, or on AWS \`agentCredentials\` of OrderProcessing.`,
    );
  secrets.push(value);
  return value;
}
