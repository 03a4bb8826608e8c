import type { ClientDecision, ClientOrders } from '#authoring/consumer';
import type { Json } from '#core/data/json';
import type { Definitions } from '#ports/definitions';
import type { Store } from '#ports/store';
import { callKey } from '#roles/operator/idempotency';
import type { Decision } from '#roles/operator/instruction';
import { readableOrder } from '#roles/scheduler/load';
import { outputWithoutSecrets } from '#roles/scheduler/redaction';
import type { Scheduler } from '#roles/scheduler/scheduler';
import type { Loaded } from '#roles/scheduler/types';
import type { Submit } from '#roles/submission/submission';

export interface ClientOrdersPorts {
  readonly store: Store;
  readonly definitions: Definitions;
  readonly scheduler: Pick<Scheduler, 'instruct'>;
  readonly submit: Submit;
}

/**
 * Returns the access to the orders of one client. `origin` names the message: if the message is handled again, its signals and
 * cancellations count once.
 */
export function clientOrders(client: string, origin: string, ports: ClientOrdersPorts): ClientOrders {
  async function own(orderId: string): Promise<Loaded | undefined> {
    const loaded = await readableOrder(orderId, ports);
    return loaded?.order.client === client ? loaded : undefined;
  }

  async function decide(orderId: string, decision: Decision): Promise<ClientDecision> {
    if (!(await own(orderId))) return 'not-found';
    const content = JSON.parse(JSON.stringify(decision)) as Json;
    const id = `${origin} ${JSON.stringify(content)}`;
    const { outcome } = await ports.scheduler.instruct(orderId, decision, { id, key: callKey(client, id, content) });
    return outcome === 'done' || outcome === 'replayed' ? 'done' : outcome === 'not-found' ? outcome : 'refused';
  }

  return {
    submit: (submission) => ports.submit({ ...submission, client }),
    async get(orderId) {
      const loaded = await own(orderId);
      if (!loaded) return undefined;
      const { processState, outcome } = loaded.record;
      const output = outputWithoutSecrets(loaded);
      return { orderId, processState, outcome, ...(output === undefined ? {} : { output }) };
    },
    signal: (orderId, name, payload = null) => decide(orderId, { kind: 'signal', name, payload }),
    cancel: (orderId, reason) => decide(orderId, { kind: 'cancel', by: client, reason }),
  };
}
