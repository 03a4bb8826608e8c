import type { UndoPage } from '#core/data/state';
import type { ByteBudget } from '#core/engine/transition';
import { violatedBy } from '#core/rules/constraints';
import type { Rule } from '#core/rules/rule';
import { isAnyRuleAbout, type RuleSet, stepsOfConstraints } from '#core/rules/rule-set';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { InvariantError, UnreadableRecordError } from '#ports/errors';
import type { StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { type Refolded, refolded, withRebuilt } from '#roles/repair/exact';
import { putMissing, stateOfMissing } from '#roles/repair/missing';
import { quarantineTypes } from '#roles/repair/quarantine';
import { rebuild } from '#roles/repair/rebuild';
import { type Instance, readableInstance } from './instance.ts';
import { loadOrder, programFor } from './load.ts';
import { undoPageOf } from './paging.ts';
import { stepsAt, valuesAt } from './rule-values.ts';
import { transition } from './transition.ts';
import type { Incoming, Loaded, PlannedWrite, Settings } from './types.ts';

export interface OrdersOptions {
  readonly store: Pick<Store, 'load' | 'pages' | 'undoPage' | 'orderWithoutState' | 'putMissingState' | 'listed'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly definitions: Definitions;
  readonly settings: Settings;
  /** Returns the rules to decide by. */
  readonly rules?: (() => Promise<RuleSet>) | undefined;
}

/** An order to decide on. `losses`: the reasons why a rebuilt order cannot be undone. */
export interface Found {
  readonly loaded: Loaded;
  readonly losses: readonly string[];
}

/** An order with what its journal tells. `stored`: its instance; undefined if it cannot be read. */
export interface Examined {
  readonly known: Omit<Loaded, 'instance'>;
  readonly stored: Instance | undefined;
  readonly refolded: Refolded;
}

/** Reads orders and plans their transitions. It writes nothing but a stand-in for a missing state. */
export interface Orders {
  /**
   * Resolves to undefined if the order does not exist. Rejects with UnreadableRecordError if its record cannot be read. Replaces a missing
   * state by a stand-in, which cannot be read either.
   */
  load(orderId: string): Promise<Loaded | undefined>;
  /**
   * Rebuilds an order, whose instance cannot be read, exactly from its journal. Rejects with UnreadableRecordError if the journal does not
   * tell how the order stood. `asked`: the person who wants the rebuild. With it, an order that is in Error only because it could not be
   * read leaves Error.
   */
  refold(orderId: string, asked?: { readonly by: string; readonly reason: string }): Promise<Loaded | undefined>;
  /** Reads an order and folds its journal, whether its instance can be read or not. */
  examine(orderId: string): Promise<Examined | undefined>;
  /** Rebuilds an order from its journal, so that it can be undone although its instance cannot be read. */
  rebuild(orderId: string): Promise<Found | undefined>;
  /** Returns the constraints of the app and of people that a plan would violate. */
  violatedBy(loaded: Loaded, planned: PlannedWrite, now: number): Promise<readonly Rule[]>;
  /** Plans a transition; resolves to undefined if the messages change nothing. */
  planOf(loaded: Loaded, incoming: readonly Incoming[], now: number, byteBudget?: ByteBudget): Promise<PlannedWrite | undefined>;
}

export function createOrders({ store, clock, definitions, settings, rules }: OrdersOptions): Orders {
  const ports = { store, definitions };

  return {
    async load(orderId) {
      const found = await loadOrder(orderId, ports);
      if (found) return found;
      const isReplaced = await putMissing(orderId, ports, clock.now());
      return isReplaced ? loadOrder(orderId, ports) : undefined;
    },
    async refold(orderId, asked = undefined) {
      const found = await withPages(orderId, ports);
      if (!found) return undefined;
      const { known, pages } = found;
      const result = known.record.processState === 'Processed' ? finished : refolded(known, pages);
      if (!result.ok) throw new UnreadableRecordError(orderId, damaged(result.reason));
      const instance = withRebuilt(result.instance, asked ?? {}, clock.now());
      return { ...known, record: asked ? freed(known.record, instance) : known.record, instance, rebuilt: true };
    },
    async examine(orderId) {
      const found = (await withPages(orderId, ports)) ?? (await withoutState(orderId, ports));
      return found && { known: found.known, stored: readableInstance(found.known.record), refolded: refolded(found.known, found.pages) };
    },
    async rebuild(orderId) {
      const found = await withPages(orderId, ports);
      if (!found) return undefined;
      const { known, pages } = found;
      const { program, order, record: state } = known;
      const { instance, problems: losses } = rebuild(known, pages, clock.now());
      // Forces a new claim, so that replies to earlier requests do not count.
      const processState = state.processState === 'Processed' ? state.processState : 'Error';
      return { loaded: { program, order, record: { ...state, lockedBy: null, processState }, instance, rebuilt: true }, losses };
    },
    async violatedBy(loaded, planned, now) {
      const set = await rules?.();
      const { orderId, workflow } = loaded.record;
      if (!set || !isAnyRuleAbout(set, 'data', workflow.name)) return [];
      const steps = stepsOfConstraints(set, workflow.name);
      const [before, after] = [loaded.instance, planned.instance].map((instance) => ({
        ...valuesAt({ loaded, instance }, undefined),
        steps: stepsAt({ loaded, instance }, steps),
      }));
      return before && after ? violatedBy(set, { orderId, workflow }, { before, after, at: now }) : [];
    },
    // Reads each page that the plan needs, then plans again from the start.
    async planOf(loaded, incoming, now, byteBudget) {
      const { orderId } = loaded.order;
      const undoPages = new Map<number, UndoPage>();
      const ruled = { ...settings, rules: await rules?.(), byteBudget };
      for (let read: Pick<Loaded, 'pages'> = {}; ; ) {
        const planned = planWith({ ...loaded, ...read, undoPages }, incoming, now, ruled);
        if (!planned || !('needs' in planned)) return planned;
        if (planned.needs === 'journal') read = { pages: await store.pages(orderId) };
        else undoPages.set(planned.needs, await undoPageOf(store, orderId, planned.needs));
      }
    },
  };
}

type ReadPorts = Pick<OrdersOptions, 'store' | 'definitions'>;

/** Reads an order with the pages of its journal. */
async function withPages(orderId: string, { store, definitions }: ReadPorts) {
  const found = await store.load(orderId);
  if (!found) return undefined;
  const { order, state: record } = found;
  return { known: { program: programFor(orderId, record, definitions), order, record }, pages: await store.pages(orderId) };
}

/** Reads an order whose state is missing, together with a state that stands for the missing one. */
async function withoutState(orderId: string, { store, definitions }: ReadPorts) {
  const order = await store.orderWithoutState(orderId);
  if (!order) return undefined;
  const pages = await store.pages(orderId);
  const record = stateOfMissing(order, pages, definitions);
  return { known: { program: programFor(orderId, record, definitions), order, record }, pages };
}

/** Returns the record of an order that can be read again: it is in Error no more if a quarantine was the only reason. */
function freed(record: StateRecord, { state: { phase } }: Instance): StateRecord {
  const wasQuarantined = record.processState === 'Error' && quarantineTypes.has(record.fault?.type ?? '');
  if (!wasQuarantined || phase === 'blocked' || phase === 'closed') return record;
  return { ...record, processState: record.lockedBy === null ? 'Pending' : 'Processing', fault: null };
}

const reasonCharactersMax = 500;

/** Returns the reason for the error about a damaged instance that its journal cannot rebuild. */
const damaged = (reason: string): string =>
  `its instance is damaged and cannot be rebuilt: ${reason.slice(0, reasonCharactersMax).replace(/\.$/, '')}`;

const finished = { ok: false, reason: 'The order is finished, so it is not rebuilt.' } as const;

/** Plans one transition. Planning is pure, so any error but an InvariantError means that this order's instance is inconsistent. */
function planWith(...[loaded, incoming, now, settings]: Parameters<typeof transition>): ReturnType<typeof transition> {
  try {
    return transition(loaded, incoming, now, settings);
  } catch (error) {
    if (error instanceof InvariantError) throw error;
    throw new UnreadableRecordError(loaded.order.orderId, `its instance is inconsistent (${(error as Error).message})`);
  }
}
