/** A message on its way to a queue. */
export interface Outgoing {
  readonly queue: string;
  /** JSON text. */
  readonly body: string;
  /** At most 15 minutes; what must wait longer is a deadline in the state. */
  readonly delayMs?: number;
  /** Whose work it is: the client of the order. Who sends much makes those who send little wait no longer for it. */
  readonly group?: string;
}

export interface Received {
  readonly messageId: string;
  readonly body: string;
  /** How often it has been delivered, this time included. */
  readonly receiveCount: number;
  /** Milliseconds since 1970. */
  readonly sentAt: number;
  /** Who sent it, where the channel knows. */
  readonly senderId?: string;
  /** As it was sent, where the channel knows: whoever sends what follows from a message hands it on. */
  readonly group?: string;
  /** Names this delivery; a later delivery of the same message makes it void. */
  readonly receipt: string;
}

/** Clients' own queues have names that begin so, in every deployment: they are not the system's, and bear no prefix of it. */
export const responseQueuePrefix = 'redress-response-';

/** The longest delay that a queue knows. */
export const delayMaxMs = 900_000;

export interface QueueDepth {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  readonly oldestAgeMs: number;
}

/**
 * Queues in the manner of SQS: at least once, in no particular order, fair to groups. Every message may come twice, late, or, after
 * its retention, never. A `send` that rejects may have sent some of it, or all.
 */
export interface Queues {
  send(messages: readonly Outgoing[]): Promise<void>;
  /** Waits up to `waitMs` for at least one message; what is received is invisible to others for `visibilityMs`. */
  receive(
    queue: string,
    options: { readonly max: number; readonly visibilityMs: number; readonly waitMs: number; readonly signal?: AbortSignal },
  ): Promise<readonly Received[]>;
  /** Takes messages off the queue. A receipt that is void is passed over. */
  acknowledge(queue: string, receipts: readonly string[]): Promise<void>;
  /** Makes messages visible again after so long. A receipt that is void is passed over. */
  release(queue: string, receipts: readonly string[], afterMs: number): Promise<void>;
  depth(queue: string): Promise<QueueDepth>;
}

/** Sends for one group: what follows from a message of that group. */
export const inGroup = (queues: Pick<Queues, 'send'>, group: string | undefined): Pick<Queues, 'send'> =>
  group === undefined ? queues : { send: (messages) => queues.send(messages.map((message) => ({ ...message, group }))) };

/** The group of what follows from a message: its own. */
export const groupOf = ({ group }: { readonly group?: string | undefined }): { readonly group?: string } =>
  group === undefined ? {} : { group };

/** Where a message goes that was delivered too often without success. */
export interface Redrive {
  readonly maxReceiveCount: number;
  readonly deadLetterQueue: string;
}
