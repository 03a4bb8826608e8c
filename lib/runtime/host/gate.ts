import type { Clock } from '#ports/clock';
import type { Documents } from '#ports/documents';
import { isFatal } from '#ports/errors';
import type { Telemetry } from '#ports/telemetry';
import { channelOf } from '#roles/channels/policy';
import { type Closures, closures, isShut } from '#roles/channels/state';

/** Tells event sources whether the channel of a queue is closed. */
export interface Gate {
  isShut(queue: string): Promise<boolean>;
  /** Calls the listener when the channel of the queue is closed, so that waiting receives end. */
  onShut(queue: string, listener: () => void): void;
  /** Refreshes the known closures until the signal aborts. */
  watch(stopping: AbortSignal): Promise<void>;
}

/** The age at which the known closures are read again. */
export const freshMs = 1_000;

/** Creates the gate of a host, which polls the channels' records for all its event sources. */
export function createGate(documents: Pick<Documents, 'document' | 'documents'>, clock: Clock, telemetry: Telemetry): Gate {
  const listeners = new Map<string, () => void>();
  let known: Closures = new Map();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const isKnownShut = (queue: string): boolean => isShut(known.get(channelOf(queue)), queue, clock.now());

  async function read(): Promise<void> {
    readAt = clock.now();
    try {
      known = await closures(documents, readAt);
    } catch (error) {
      if (isFatal(error)) throw error;
      // Keep the last known closures: without the store, no message can be processed anyway.
      telemetry.log('warn', 'cannot read channel states', { error });
    } finally {
      reading = undefined;
    }
    for (const [queue, tell] of listeners) if (isKnownShut(queue)) tell();
  }

  async function refresh(): Promise<void> {
    if (clock.now() - readAt >= freshMs) reading ??= read();
    await reading;
  }

  return {
    async isShut(queue) {
      await refresh();
      return isKnownShut(queue);
    },
    onShut: (queue, listener) => void listeners.set(queue, listener),
    async watch(stopping) {
      while (!stopping.aborted) {
        await refresh();
        await clock.sleep(freshMs, stopping);
      }
    },
  };
}
