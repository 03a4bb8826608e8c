import type { Fault } from '../../../lib/core/fault.ts';
import { refusals } from '../app.ts';
import type { Law } from './law.ts';

const declared: ReadonlyMap<string, string> = new Map(Object.values(refusals).map(({ name, path }) => [name, path]));
/** What the services of the worlds say without having declared it. */
const undeclared: ReadonlySet<string> = new Set(['TooLate']);

/** F-30: a fault is what the workflow declares, with what the service said of it; what is not declared is unexpected. */
export const faults = (): Law => ({
  name: 'faults',
  after(happening, history) {
    if (happening.type !== 'written') return undefined;
    const order = history.orders.get(happening.after.orderId);
    const wrong = order?.news
      .map((fact) => ('fault' in fact && fact.fault ? wrongIn(fact.fault) : undefined))
      .find((each) => each !== undefined);
    return wrong && `${order?.orderId} has ${wrong}`;
  },
});

function wrongIn(fault: Fault): string | undefined {
  const { type, class: faultClass, message, data, permanent } = fault;
  const text = JSON.stringify(fault);
  if (message.trim() === '' || typeof permanent !== 'boolean') return `a fault that says nothing: ${text}`;
  const name = type.slice(type.lastIndexOf('/') + 1);
  const path = declared.get(name);
  if (path !== undefined) {
    const { why, quoted } = (data ?? {}) as { readonly why?: string; readonly quoted?: string };
    const isWhole = why === name && typeof quoted === 'string' && message.startsWith('No "{');
    return type === path && faultClass === 'expected' && isWhole ? undefined : `a fault that is declared otherwise: ${text}`;
  }
  return undeclared.has(name) && faultClass !== 'unexpected' ? `a fault that nobody declared: ${text}` : undefined;
}
