import type { Clock } from '#ports/clock';
import type { Documents } from '#ports/documents';
import type { Telemetry } from '#ports/telemetry';
import { channelOf } from '#roles/channels/policy';
import { type Closures, closures, isShut } from '#roles/channels/state';

/** Asked before anything is taken from a queue: whether its channel is closed. */
export interface Gate {
  isShut(queue: string): Promise<boolean>;
  /** Tells whoever waits for something on a queue that it is shut now. */
  onShut(queue: string, listener: () => void): void;
  /** Looks again and again, until it is to stop. */
  watch(stopping: AbortSignal): Promise<void>;
}

/** What stands in the store is read again after so long. */
export const freshMs = 1_000;

/** One for each host: its event sources follow the channels' records without being told. */
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
      if ((error as { fatal?: boolean }).fatal) throw error;
      // What was known last goes on: without the store nothing gets done anyway.
      telemetry.log('warn', 'whether channels are closed is not known', { error });
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
