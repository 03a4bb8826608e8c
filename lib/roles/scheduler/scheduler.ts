import type { PeopleFor } from '#core/definition/people';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import type { Publisher } from '#ports/event-bus';
import { wakeUpOf } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { OrderRecord, StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { createInstructing, type Instruct } from '#roles/operator/instruct';
import { createLocking, type Locking } from '#roles/operator/locking';
import { createRebuilding, type Rebuilding } from '#roles/operator/rebuilding';
import type { Rules } from '#roles/rules/rules';
import { type Accept, createAccept } from './accept.ts';
import type { Pinned } from './instance.ts';
import type { LockPolicy } from './lease.ts';
import { type Inherited, newOrder, plannedStart } from './new-order.ts';
import { createOrders } from './orders.ts';
import type { Loaded, RuledOrder, RuleUse, Settings } from './types.ts';
import { createWriter } from './writer.ts';

export interface SchedulerOptions {
  readonly store: Store;
  readonly queues: Queues;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly definitions: Definitions;
  /** Names this host in claims and leases; unique to each process. */
  readonly hostId: string;
  readonly announceProcessed?: boolean;
  /** Largest difference between the clocks of two hosts. */
  readonly clockToleranceMs?: number;
  readonly lockPolicy?: LockPolicy;
  /** The rules to ask about exceptions and other events, and their figures. Absent: no rule is asked. */
  readonly rules?: SchedulerRules;
  /** Returns the people for whom the tasks of a workflow are. */
  readonly peopleFor?: PeopleFor;
  /**
   * Called for each order that is blocked by an unhandled fault, as the event `workflowTerminated` says (F-62). The scheduler logs the
   * errors of this function.
   */
  readonly onTerminated?: (orderId: string, record: StateRecord) => void;
  /** Called for each order that a write of this host blocks or ends. The scheduler logs the errors of this function. */
  readonly onRest?: (loaded: Loaded) => void;
  /** Counts the orders that this host ends, for a store that cannot count finished orders. */
  readonly finished?: { readonly ended: () => Promise<void> };
  /** Called for each order whose record cannot be processed. The scheduler logs the errors of this function. */
  readonly onServiceException?: (orderId: string, error: Error) => void;
}

/** The rules as the scheduler needs them. */
export interface SchedulerRules extends Pick<Rules, 'current'> {
  /** Adds to the figures of rules what they did in a write, once the write is stored. */
  readonly count: (order: RuledOrder, use: RuleUse) => Promise<void>;
}

/** Applies messages to an order: saves the new state in one conditional write, then sends the resulting messages. */
export interface Scheduler {
  readonly accept: Accept;
  /**
   * Creates an order in one write. `claim`: the write also claims the order. `preventStart`: the write also cancels it before it begins.
   */
  create(
    order: OrderRecord,
    options: { readonly claim: boolean; readonly preventStart?: true } & Pinned & Inherited,
  ): ReturnType<Store['create']>;
  readonly instruct: Instruct;
  readonly locking: Locking;
  readonly rebuild: Rebuilding;
}

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { store, clock, definitions, hostId, announceProcessed = false, clockToleranceMs = 0 } = options;
  const settings: Settings = { hostId, announceProcessed, clockToleranceMs, ...checksOf(definitions), peopleFor: options.peopleFor };
  const { rules: known } = options;
  const rules = known && (() => known.current());
  const orders = createOrders({ store, clock, definitions, settings, rules });
  const writer = createWriter(options);

  return {
    accept: createAccept(options, { orders, writer, settings }),
    instruct: createInstructing(options, orders, writer),
    locking: createLocking(options, orders, writer),
    rebuild: createRebuilding(options, orders, writer),
    async create(order, { claim, preventStart, ...pinned }) {
      const now = clock.now();
      const loaded = newOrder(definitions, order, pinned);
      const beginning = preventStart ? 'never' : claim ? 'now' : 'later';
      const planned = plannedStart(loaded, beginning, now, { ...settings, rules: await rules?.() });
      return writer.create(loaded, planned, now, claim || preventStart ? [] : [wakeUpOf(order, now)]);
    },
  };
}

const checksOf = ({ isValidOutput, isValidInput }: Definitions): Pick<Settings, 'isValidOutput' | 'isValidInput'> => ({
  isValidOutput,
  isValidInput,
});
