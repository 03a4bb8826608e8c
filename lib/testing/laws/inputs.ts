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

/** F-42, F-44: one idempotency key has one input; and what is done counts only with the input of the run that it is part of. */
export function inputs({ answersNameTheirKey }: Pick<Setting, 'answersNameTheirKey'>): Law {
  const inputOf = new Map<string, string>();
  /** By order: what it was last requested to charge for. */
  const charged = new Map<string, unknown>();
  return {
    name: 'inputs',
    after: on(['sent'], ({ queue, body }) => {
      if (!queue.endsWith('-requests')) return undefined;
      const { type, orderId = '', path = '', idempotencyKey: key = '', input, requestId, confirming } = JSON.parse(body) as Sent;
      if (type !== 'request' || requestId === undefined) return undefined;
      if (path.endsWith('/charge') && !confirming && isObject(input)) charged.set(orderId, input['what']);
      const text = JSON.stringify(input);
      const before = inputOf.get(key) ?? text;
      inputOf.set(key, before);
      return before === text ? undefined : `${key} is asked for with ${text}, and was with ${before}`;
    }),
    atEnd: (history) =>
      history.sound.flatMap(({ orderId, state, journal }) => {
        if (!answersNameTheirKey || !/^(picking|packing)$/.test(state.workflow.name) || state.outcome !== 'completed') return [];
        const found = foundBy(journal);
        return charged.get(orderId) === found ? [] : [`${orderId} has found ${found}, and is charged for ${charged.get(orderId)}`];
      }),
  };
}

/** What the last run of an order has found. */
function foundBy(journal: readonly JournalEntry[]): string {
  let found = 'nothing';
  for (const fact of journal) {
    if (fact.type !== 'ActivityClosed' || !fact.path.endsWith('/reserve')) continue;
    const output = fact.result === 'Succeeded' && isObject(fact.output) ? fact.output['id'] : undefined;
    found = typeof output === 'string' ? output : 'nothing';
  }
  return found;
}
