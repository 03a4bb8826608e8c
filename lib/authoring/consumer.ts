import type * as z from 'zod';
import { isObject, type Json } from '#core/data/json';
import type { ChannelPolicies } from './channel-policy.ts';
import { DefinitionError, expectFunction } from './definition-error.ts';
import { checkSchema } from './schema.ts';
import type { ServiceSubmission, ServiceSubmitted } from './services.ts';

/** An order of a consumer's client. */
export interface OrderOfClient {
  readonly orderId: string;
  readonly processState: 'Pending' | 'Processing' | 'Processed' | 'Error';
  /** The outcome of the order; null before its end. */
  readonly outcome: string | null;
  /** The output of a completed order, without secrets. */
  readonly output?: Json;
}

/** `refused`: the order no longer allows the signal or the cancellation. `not-found`: the client has no such order. */
export type ClientDecision = 'done' | 'refused' | 'not-found';

/** The orders of a consumer's client. A repeated message repeats these calls without a second effect. */
export interface ClientOrders {
  submit(submission: Omit<ServiceSubmission, 'client'>): Promise<ServiceSubmitted>;
  get(orderId: string): Promise<OrderOfClient | undefined>;
  /** Sends a signal. The order keeps it until an activity waits for it. */
  signal(orderId: string, name: string, payload?: Json): Promise<ClientDecision>;
  cancel(orderId: string, reason: string): Promise<ClientDecision>;
}

/** The context in which one message is handled. */
export interface MessageContext {
  /** The conversation that the message belongs to, as its sender names it. */
  readonly conversation: string | undefined;
  readonly messageId: string;
  /** The number of deliveries of this message so far, from 1. An earlier one may have had its effect. */
  readonly delivery: number;
  readonly sentAt: Date;
  /** The sender, as the queue reports it. */
  readonly senderId: string | undefined;
  readonly orders: ClientOrders;
  /** Returns a credential, as for an operation of an agent. */
  credential(name: string): Promise<string>;
  /** Aborted when the process stops, and shortly before the time limit of the batch, `completeWithinSeconds`. */
  readonly signal: AbortSignal;
}

/** One type of messages: the schema of its body, and the function that handles it. */
export interface MessageType<B extends z.ZodType> {
  readonly body: B;
  /**
   * Handles one message. It may be called again with the same message. `PermanentFailure`: the message can never be handled.
   * `UnprocessableMessage` and errors of the code: the failure is counted, and the message is redelivered. Any other exception counts as an
   * outage.
   */
  handle(body: z.output<B>, context: MessageContext): Promise<unknown> | unknown;
}

/** Defines a type of messages. The type of the body follows from its schema. */
export const messageType = <B extends z.ZodType>(type: MessageType<B>): MessageType<B> => type;

export interface AnyMessageType {
  readonly body: z.ZodType;
  handle(body: never, context: MessageContext): unknown;
}

/** A failure count in the consumer's own state, as JSON. `rev` rises with every write. In a column of a database it needs 64 bits. */
export interface OwnFailureCount {
  readonly rev: number;
  readonly failures: number;
  /** The last ten failures. Times are milliseconds since 1970. */
  readonly attempts: readonly { readonly at: number; readonly error: string; readonly nothingDone?: true }[];
}

/** Failure counts that a consumer keeps in a state of its own, such as a field of its records. */
export interface OwnFailureCounts {
  /** Returns the count of a conversation; undefined if there is none. */
  read(conversation: string): Promise<OwnFailureCount | undefined>;
  /** Stores a count, or removes it if it is undefined. Resolves to false if the stored one has another `rev` than `loadedRev` (0: none). */
  write(conversation: string, count: OwnFailureCount | undefined, loadedRev: number): Promise<boolean>;
}

export interface ConsumerOptions {
  /** The place of the failure counts. Default: the system's own table. */
  readonly failureCounts?: OwnFailureCounts;
  /** The client in whose name the handlers use orders. Default: the name of the consumer. */
  readonly client?: string;
  /** The longest time of handling a batch, in seconds. On AWS it is the timeout of the function. Default: 30. */
  readonly completeWithinSeconds?: number;
}

/** The code behind a queue of the app. */
export interface ConsumerDefinition extends ConsumerOptions {
  readonly name: string;
  readonly types: { readonly [type: string]: AnyMessageType };
}

const definition = Symbol('consumer definition');

export interface Consumer {
  readonly [definition]: ConsumerDefinition;
}

export const consumerDefinitionOf = (consumer: Consumer): ConsumerDefinition => consumer[definition];

/** Types of messages that end a conversation. The system handles them itself. */
export const endingTypes: readonly string[] = ['end', 'error'];

/** Channels of the engine. */
const reserved = ['submissions', 'wake-ups', 'workflows'];

/**
 * Defines a consumer of a queue of its own, `<name>-messages`. Its messages name their type: `{ v: 1, type, conversation?, body }`.
 *
 * @throws DefinitionError for an invalid name, and for a type without a schema or a function, with its place.
 */
export function defineConsumer(name: string, types: { readonly [type: string]: AnyMessageType }, options: ConsumerOptions = {}): Consumer {
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(name))
    throw new DefinitionError(
      `Invalid consumer name "${name}": begin with a lowercase letter, and use at most 40 lowercase letters, digits and "-".`,
    );
  if (reserved.includes(name)) throw new DefinitionError(`"${name}" is a channel of the engine. Choose another consumer name.`);
  if (Object.keys(types).length === 0)
    throw new DefinitionError(`The consumer "${name}" has no message type. Add one: { 'expense-report': messageType({ body, handle }) }.`);
  for (const [type, { body, handle }] of Object.entries(types)) {
    if (!/^[A-Za-z][A-Za-z0-9._-]{0,63}$/.test(type))
      throw new DefinitionError(
        `Invalid message type "${type}" of the consumer "${name}": begin with a letter, and use at most 64 letters, digits, ".", "_" and "-".`,
      );
    if (endingTypes.includes(type))
      throw new DefinitionError(`${name}: the type "${type}" ends a conversation, and the system handles it. Choose another name.`);
    checkSchema(body, `${name} ${type} body`);
    expectFunction(handle, `${name} ${type} with handle: (body, context) => …`);
  }
  return { [definition]: { name, types, ...options } };
}

export const isConsumer = (part: unknown): boolean => isObject(part) && consumerDefinitionOf(part as unknown as Consumer) !== undefined;

/** Returns one problem for each name that occurs twice, and for each dropped type that the consumer does not declare, with its place. */
export function consumerProblems(
  consumers: readonly ConsumerDefinition[],
  agents: readonly { readonly name: string }[],
  channels: ChannelPolicies = {},
): readonly string[] {
  const names = [...agents, ...consumers].map(({ name }) => name);
  return consumers.flatMap(({ name, types }) => [
    ...(names.filter((each) => each === name).length > 1
      ? [`Two parts of the app are called "${name}". They would share one channel: rename the consumer.`]
      : []),
    ...(channels[name]?.drop ?? []).flatMap((type, index) =>
      Object.hasOwn(types, type)
        ? []
        : [
            `channels.${name}.drop[${index}]: the consumer "${name}" has no message type "${type}". Add it to defineConsumer, or name one of: ${Object.keys(types).join(', ')}.`,
          ],
    ),
  ]);
}
