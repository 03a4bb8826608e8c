import { isObject } from '#core/data/json';
import type { JournalEntry } from '#roles/scheduler/instance';
import { type Law, on, type Setting } from './law.ts';

interface Sent {
  readonly type?: string;
  readonly orderId?: string;
  readonly path?: string;
  readonly idempotencyKey?: string;
  readonly input?: unknown;
  readonly requestId?: string;
  readonly confirming?: boolean;
}

/** An idempotency key always has the same input. Only the seal of a secret may differ, after another confirmation. A completed order of the
 * workflows `picking` and `packing` was last charged for what its last reservation returned (F-42, F-44). */
export function inputs({ answersNameTheirKey }: Pick<Setting, 'answersNameTheirKey'>): Law {
  const inputOf = new Map<string, string>();
  /** `what` in the input of the last `charge` request, by order. */
  const charged = new Map<string, unknown>();
  return {
    name: 'inputs',
    after: on(['sent'], ({ queue, body }) => {
      if (!queue.endsWith('-requests')) return undefined;
      const { type, orderId = '', path = '', idempotencyKey: key = '', input, requestId, confirming } = JSON.parse(body) as Sent;
      if (type !== 'request' || requestId === undefined) return undefined;
      if (path.endsWith('/charge') && !confirming && isObject(input)) charged.set(orderId, input['what']);
      const text = JSON.stringify(input)?.replaceAll(/sealed:1:[\w-]+:/g, 'sealed:1::');
      const before = inputOf.get(key) ?? text;
      inputOf.set(key, before);
      return before === text ? undefined : `idempotency key ${key} was requested with the input ${text}, before with ${before}`;
    }),
    atEnd: (history) =>
      history.sound.flatMap(({ orderId, state, journal }) => {
        if (!answersNameTheirKey || !/^(picking|packing)$/.test(state.workflow.name) || state.outcome !== 'completed') return [];
        const reserved = lastReservation(journal);
        return reserved === undefined || charged.get(orderId) === reserved
          ? []
          : [`order ${orderId} reserved ${reserved} in its last run, but was charged for ${charged.get(orderId)}`];
      }),
  };
}

/** Returns the id that the last run of an order reserved, or `nothing`; undefined if the order went on after an undo of the reservation. */
function lastReservation(journal: readonly JournalEntry[]): string | undefined {
  let reserved: string | undefined = 'nothing';
  for (const fact of journal) {
    if (fact.type !== 'ActivityClosed') continue;
    if (fact.path.endsWith('/reserve/undo')) reserved = undefined;
    if (!fact.path.endsWith('/reserve')) continue;
    const output = fact.result === 'Succeeded' && isObject(fact.output) ? fact.output['id'] : undefined;
    reserved = typeof output === 'string' ? output : 'nothing';
  }
  return reserved;
}
