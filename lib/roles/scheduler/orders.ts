import type { UndoPage } from '#core/data/state';
import type { Program } from '#core/definition/program';
import type { ByteBudget } from '#core/engine/transition';
import type { Definitions } from '#ports/definitions';
import { InvariantError, rolloutMs, UnreadableRecordError } from '#ports/errors';
import type { StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { changedReason } from '#roles/definitions/pinning';
import { decodeInstance } from './instance.ts';
import { undoPageOf } from './paging.ts';
import { transition } from './transition.ts';
import type { Incoming, Loaded, PlannedWrite, Settings } from './types.ts';

export interface OrdersOptions {
  readonly store: Pick<Store, 'load' | 'undoPage'>;
  readonly definitions: Definitions;
  readonly settings: Settings;
}

/** Reads orders and plans their transitions. It writes nothing. */
export interface Orders {
  /** Resolves to undefined if the order does not exist. Rejects with UnreadableRecordError. */
  load(orderId: string): Promise<Loaded | undefined>;
  programOf(orderId: string, record: StateRecord): Program;
  /** Plans a transition; resolves to undefined if the messages change nothing. */
  planOf(loaded: Loaded, incoming: readonly Incoming[], now: number, byteBudget?: ByteBudget): Promise<PlannedWrite | undefined>;
}

export function createOrders({ store, definitions, settings }: OrdersOptions): Orders {
  function programOf(orderId: string, record: StateRecord): Program {
    const program = definitions.programOf(record);
    if (program) return program;
    const { name, version } = record.workflow;
    const { submittedAt } = record;
    if (definitions.program(name, version)) throw new UnreadableRecordError(orderId, changedReason(name, version), submittedAt + rolloutMs);
    const newest = definitions.newest(name)?.definition.version ?? 0;
    const newerUntil = version > newest ? submittedAt + rolloutMs : 0;
    throw new UnreadableRecordError(orderId, `its workflow ${name}@${version} is not part of this app`, newerUntil);
  }

  return {
    programOf,
    async load(orderId) {
      const found = await store.load(orderId);
      if (!found) return undefined;
      return { program: programOf(orderId, found.state), order: found.order, record: found.state, instance: decodeInstance(found.state) };
    },
    // Reads each undo page that the plan needs, then plans again from the start.
    async planOf(loaded, incoming, now, byteBudget) {
      const { orderId } = loaded.order;
      const undoPages = new Map<number, UndoPage>();
      for (;;) {
        const planned = planWith({ ...loaded, undoPages }, incoming, now, { ...settings, byteBudget });
        if (!planned || !('needs' in planned)) return planned;
        undoPages.set(planned.needs, await undoPageOf(store, orderId, planned.needs));
      }
    },
  };
}

/** Plans one transition. Planning is pure, so any other error means that this order's instance is inconsistent. */
function planWith(...[loaded, incoming, now, settings]: Parameters<typeof transition>): ReturnType<typeof transition> {
  try {
    return transition(loaded, incoming, now, settings);
  } catch (error) {
    if (error instanceof InvariantError) throw error;
    throw new UnreadableRecordError(loaded.order.orderId, `its instance is inconsistent (${(error as Error).message})`);
  }
}
