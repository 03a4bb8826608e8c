import { engineFaults, type Fault, shortType } from '#core/data/fault';
import { refusals } from '../app.ts';
import { type Law, on } from './law.ts';

const declared: ReadonlyMap<string, string> = new Map(Object.values(refusals).map(({ name, path }) => [name, path]));
/** What the services of the worlds say without having declared it. */
const undeclared: ReadonlySet<string> = new Set(['TooLate']);

/** As agents name them: in an order they stand by their whole type. */
const engines: ReadonlySet<string> = new Set(Object.values(engineFaults).map(shortType));

/** F-30: wherever a fault is told of it is what the workflow declares, and says something; what is not declared is unexpected. */
export const faults = (): Law => ({
  name: 'faults',
  after: on(['written'], (happening, history) => {
    const order = history.orders.get(happening.after.orderId);
    const wrong = order?.news
      .map((fact) => ('fault' in fact && fact.fault ? wrongIn(fact.fault) : undefined))
      .find((each) => each !== undefined);
    const { fault = null } = order?.state ?? {};
    if (fault && fault.message.length < 3) return `${order?.orderId} is in Error, and its fault says nothing`;
    return wrong && `${order?.orderId} has ${wrong}`;
  }),
});

function wrongIn(fault: Fault): string | undefined {
  const { type, class: faultClass, message, permanent } = fault;
  const text = JSON.stringify(fault);
  if (message.trim() === '' || typeof permanent !== 'boolean') return `a fault that says nothing: ${text}`;
  const path = declared.get(type.slice(type.lastIndexOf('/') + 1));
  if (path !== undefined && (type !== path || faultClass !== 'expected')) return `a fault that is declared otherwise: ${text}`;
  if (engines.has(type)) return `a fault of the engine under another name: ${text}`;
  return undeclared.has(type) && faultClass !== 'unexpected' ? `a fault that nobody declared: ${text}` : undefined;
}
