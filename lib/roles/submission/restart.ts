import { hash } from 'node:crypto';
import type { Clock } from '#ports/clock';
import { timeText } from '#ports/messages';
import type { OrderRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { decodeInstance } from '#roles/scheduler/instance';
import type { Scheduler } from '#roles/scheduler/scheduler';
import { inheritedWatches } from '#roles/scheduler/task-watches';
import { inherited } from '#roles/secrets/order-key';

/** Settings of the system that an order keeps from its creation. */
interface RestartSettings {
  readonly stepMs: number;
  readonly maxFailures: number;
  readonly longWaitMs: number;
  readonly claimOnSubmit: boolean;
}

export interface RestartPorts {
  readonly store: Pick<Store, 'load' | 'hasForgotten'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly scheduler: Pick<Scheduler, 'create'>;
  readonly config: RestartSettings;
}

/**
 * Begins the order that replaces an ended one. A repetition changes nothing, because the ended order already names the id of the new one.
 */
export async function beginRestarted(orderId: string, { store, clock, scheduler, config }: RestartPorts): Promise<void> {
  const ended = await store.load(orderId);
  if (ended?.state.restartedAs === undefined || ended.state.outcome === null) return;
  const { order, state } = ended;
  const { restart = {}, watches } = decodeInstance(state);
  const body = restart.order ?? order.body;
  const submittedAt = clock.now();
  const processState = config.claimOnSubmit ? 'Processing' : 'Pending';
  const { reference, responseChannel, key } = order;
  const next: OrderRecord = {
    orderId: state.restartedAs as string,
    client: order.client,
    ...(reference === undefined ? {} : { reference }),
    workflow: { name: state.workflow.name, version: restart.version ?? state.workflow.version },
    body,
    // The secrets of the body are sealed, so the hash tells nothing about them.
    hash: hash('sha256', JSON.stringify(body)),
    // The new order holds secrets that were sealed for the ended one.
    ...(key === undefined ? {} : { key: inherited(key, orderId) }),
    ...(responseChannel === undefined ? {} : { responseChannel }),
    submittedAt,
    ...((await store.hasForgotten()) ? { firstGeneration: Math.floor(submittedAt / 1000) } : {}),
    restartedFrom: orderId,
    answer: JSON.stringify({ orderId: state.restartedAs, processState, submittedAt: timeText(submittedAt) }),
  };
  const { claimOnSubmit: claim, ...pinned } = config;
  await scheduler.create(next, { claim, ...pinned, watches: inheritedWatches(watches) });
}
