/** A message on its way to a queue. */
export interface Outgoing {
  readonly queue: string;
  /** The content, as JSON text. */
  readonly body: string;
  /** The delay, at most 15 minutes. A longer wait is a deadline in the state. */
  readonly delayMs?: number;
  /** The order's client. Queues are fair across clients: a client with many messages does not delay the others. */
  readonly group?: string;
}

export interface Received {
  readonly messageId: string;
  readonly body: string;
  /** Number of deliveries, including this one. */
  readonly receiveCount: number;
  /** Milliseconds since 1970. */
  readonly sentAt: number;
  /** The sender's id, if the queue reports it. */
  readonly senderId?: string;
  /** The message's group, if the queue reports it. Messages that result from this one carry the same group. */
  readonly group?: string;
  /** Handle of this delivery. A later delivery of the same message makes it void. */
  readonly receipt: string;
}

/** Prefix of the clients' own queues. They do not belong to a deployment, so its prefix is not added. */
export const responseQueuePrefix = 'redress-response-';

/** The longest delay that a queue supports. */
export const delayMaxMs = 900_000;

export interface QueueDepth {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  readonly oldestAgeMs: number;
}

/**
 * Queues with the guarantees of SQS: at least once, unordered, fair across groups. A message may be delivered twice or late, and
 * it is lost after its retention. A `send` that rejects may have sent none, some or all of the messages.
 */
export interface Queues {
  send(messages: readonly Outgoing[]): Promise<void>;
  /** Waits up to `waitMs` for at least one message. Received messages are invisible to other consumers for `visibilityMs`. */
  receive(
    queue: string,
    options: { readonly max: number; readonly visibilityMs: number; readonly waitMs: number; readonly signal?: AbortSignal },
  ): Promise<readonly Received[]>;
  /** Deletes messages from the queue. Void receipts are ignored. */
  acknowledge(queue: string, receipts: readonly string[]): Promise<void>;
  /** Makes messages visible again after `afterMs`. Void receipts are ignored. */
  release(queue: string, receipts: readonly string[], afterMs: number): Promise<void>;
  depth(queue: string): Promise<QueueDepth>;
}

/** Returns queues that send all messages in one group: the group of the message that caused them. */
export const inGroup = (queues: Pick<Queues, 'send'>, group: string | undefined): Pick<Queues, 'send'> =>
  group === undefined ? queues : { send: (messages) => queues.send(messages.map((message) => ({ ...message, group }))) };

/** Returns the group of a message, as a field for the messages that result from it. */
export const groupOf = ({ group }: { readonly group?: string | undefined }): { readonly group?: string } =>
  group === undefined ? {} : { group };

/** Redrive policy: the queue that receives messages with too many deliveries. */
export interface Redrive {
  readonly maxReceiveCount: number;
  readonly deadLetterQueue: string;
}
