import { engineFaults, type Fault, shortType } from '#core/data/fault';
import { type Law, on, type Setting } from './law.ts';

/** As agents name them: in an order they stand by their whole type. */
const engines: ReadonlySet<string> = new Set(Object.values(engineFaults).map(shortType));

/** F-30: wherever a fault is told of it is what the workflow declares, and says something; what is not declared is unexpected. */
export const faults = (setting: Pick<Setting, 'declaredFaults' | 'undeclaredFaults'>): Law => ({
  name: 'faults',
  after: on(['written'], (observation, history) => {
    const order = history.orders.get(observation.after.orderId);
    const wrong = order?.news
      .map((fact) => ('fault' in fact && fact.fault ? wrongIn(fact.fault, setting) : undefined))
      .find((each) => each !== undefined);
    const { fault = null } = order?.state ?? {};
    if (setting.undeclaredFaults && fault && fault.message.length < 3) return `${order?.orderId} is in Error, and its fault says nothing`;
    return wrong && `${order?.orderId} has ${wrong}`;
  }),
});

function wrongIn(
  fault: Fault,
  { declaredFaults, undeclaredFaults }: Pick<Setting, 'declaredFaults' | 'undeclaredFaults'>,
): string | undefined {
  const { type, class: faultClass, message, permanent } = fault;
  const text = JSON.stringify(fault);
  if ((undeclaredFaults && message.trim() === '') || typeof permanent !== 'boolean') return `a fault that says nothing: ${text}`;
  const paths = declaredFaults.flatMap(({ name, path }) => (name === type.slice(type.lastIndexOf('/') + 1) ? [path] : []));
  if (paths.length > 0 && (!paths.includes(type) || faultClass !== 'expected')) return `a fault that is declared otherwise: ${text}`;
  if (engines.has(type)) return `a fault of the engine under another name: ${text}`;
  return undeclaredFaults?.has(type) && faultClass !== 'unexpected' ? `a fault that nobody declared: ${text}` : undefined;
}
