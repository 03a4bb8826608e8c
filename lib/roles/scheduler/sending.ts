import type { Clock } from '#ports/clock';
import type { Publisher } from '#ports/event-bus';
import { inGroup, type Outgoing, type Queues } from '#ports/queues';
import type { OutboxEntry } from '#ports/records';
import type { SentWithWrite, Store } from '#ports/store';
import type { Instance } from './instance.ts';
import type { Loaded, PlannedWrite } from './types.ts';

export interface SendingPorts {
  readonly store: Store;
  readonly queues: Queues;
  readonly publisher: Publisher;
  readonly clock: Clock;
}

/** A write that is ready except for its deadline and its rev. */
export interface Prepared {
  /** The instance without the pages that were moved out of it. */
  readonly instance: Instance;
  /** The outbox of the record: entries that the write does not send itself. */
  readonly outbox: readonly OutboxEntry[];
  /** The messages that the store sends, and the documents that it adds, in the same transaction. */
  readonly sentWithWrite: SentWithWrite;
  /** Sends the other messages of the write after the write is stored. If it rejects, the messages of the write must be sent again. */
  send(saved: Loaded): Promise<void>;
}

/** The way in which the messages of a write leave the system (decision 1). */
export interface Sending {
  /** Prepares a write, and sends what earlier writes have left. `wakeUp`: further messages of the write. */
  prepare(loaded: Loaded, planned: PlannedWrite, now: number, wakeUp?: readonly Outgoing[]): Promise<Prepared>;
  /**
   * Sends the outstanding requests of the last write. Undefined where the store sends messages in the transaction of the write: then none
   * is ever outstanding.
   */
  readonly sendAgain: ((loaded: Loaded) => Promise<void>) | undefined;
}

export const portsFor = <P extends Pick<SendingPorts, 'queues'>>(ports: P, { order: { client, reference } }: Loaded) => ({
  ...ports,
  queues: inGroup(ports.queues, client),
  reference,
});

/** Returns the outbox entries that no applied reply proves to be sent: entries are sent before the requests of their write. */
export const openEntries = ({ record: { outbox } }: Loaded, { taken }: PlannedWrite): readonly OutboxEntry[] =>
  outbox.filter(({ unproven, provenBy = [] }) => unproven || !provenBy.some((requestId) => taken.includes(requestId)));
