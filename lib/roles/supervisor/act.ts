import type { Clock } from '#ports/clock';
import { type OrderAndClient, wakeUpOf } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { StateHead } from '#ports/records';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import type { Decision } from './judge.ts';
import type { Outages } from './outages.ts';
import { createWakeUps } from './wake-ups.ts';

export interface SupervisorPass {
  readonly looked: number;
  /** Expiries that this pass counted. */
  readonly counted: number;
  readonly woken: number;
  readonly intoError: number;
  /** Writes that lost the race against another supervisor or a scheduler. */
  readonly lost: number;
}

export type Counts = { -readonly [K in keyof SupervisorPass]: number };

export interface ActOptions {
  readonly store: Pick<Store, 'patch'>;
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly outages: Pick<Outages, 'shutsWakeUps'>;
}

/** An order to wake, and the timeout of its steps. */
type Wakable = OrderAndClient & Pick<StateHead, 'stepMs'>;

/** Carries out decisions: at most one write of the head and one wake-up for each order. */
export interface Actions {
  /** Starts a new pass. */
  begin(): void;
  /** Resolves to false if another write of the order was first. The write requires the `rev` that was read, so each expiry counts one time. */
  act(head: StateHead, decision: Decision, counts: Counts): Promise<boolean>;
  /** Wakes an order, unless it was woken recently for this deadline or the channel of wake-ups is closed. */
  wakeOnce(order: Wakable, deadline: string, counts: Counts): Promise<void>;
}

export function createActions({ store, queues, clock, telemetry, outages }: ActOptions): Actions {
  const wake = (order: OrderAndClient): Promise<void> => queues.send([wakeUpOf(order, clock.now())]);
  const wakeUps = createWakeUps<Wakable>({ clock, send: wake });

  async function write(head: StateHead, next: StateHead, counts: Counts): Promise<boolean> {
    const { outcome } = await store.patch({ ...next, rev: head.rev + 1 }, head);
    if (outcome === 'refused') counts.lost += 1;
    return outcome === 'written';
  }

  async function wakeOnce(order: Wakable, deadline: string, counts: Counts): Promise<void> {
    if (await outages.shutsWakeUps()) return;
    if (await wakeUps.once(order, deadline)) counts.woken += 1;
  }

  async function postpone(head: StateHead, { next, wakes, announces }: Extract<Decision, { kind: 'postpone' }>, counts: Counts) {
    telemetry.count('expiryExcused');
    if (!(await write(head, next, counts))) return false;
    if (announces) {
      const { source, reason } = announces;
      telemetry.count('backlogged');
      telemetry.log('warn', 'postponed late steps: the system is behind', { source, reason });
    }
    if (wakes) await wake(head);
    return true;
  }

  async function count(head: StateHead, { next, wakes, failures, intoError }: Extract<Decision, { kind: 'count' }>, counts: Counts) {
    const path = head.nextDueFor?.path;
    telemetry.log('info', 'found expired deadline', { orderId: head.orderId, ...(path === undefined ? {} : { path }), failures });
    if (!(await write(head, { ...next, updatedAt: clock.now() }, counts))) {
      telemetry.count('recoveryLost');
      return false;
    }
    counts.counted += 1;
    if (intoError) counts.intoError += 1;
    telemetry.count('expiryCounted');
    if (head.nextDueAt !== null) telemetry.measure('detectionDelayMs', clock.now() - head.nextDueAt);
    if (wakes) await wake(head);
    return true;
  }

  return {
    begin: () => wakeUps.begin(),
    wakeOnce,
    async act(head, decision, counts) {
      switch (decision.kind) {
        case 'leave':
        case 'late':
          return true;
        case 'wake':
          await wakeOnce(head, decision.deadline, counts);
          return true;
        case 'move':
          return write(head, decision.next, counts);
        case 'postpone':
          return postpone(head, decision, counts);
        case 'count':
          return count(head, decision, counts);
      }
    },
  };
}
