import { engineFaults, type Fault, shortType } from '#core/data/fault';
import { type Law, on, type Setting } from './law.ts';

/** Short types of the engine's faults, as agents use them. An order must hold the full type. */
const engineShortTypes: ReadonlySet<string> = new Set(Object.values(engineFaults).map(shortType));

/** Each recorded fault has a message. A declared fault matches its declaration, and an undeclared one is marked as unexpected (F-30). */
export const faults = (setting: Pick<Setting, 'declaredFaults' | 'undeclaredFaults'>): Law => ({
  name: 'faults',
  after: on(['written'], (observation, history) => {
    const order = history.orders.get(observation.after.orderId);
    const wrong = order?.newFacts
      .map((fact) => ('fault' in fact && fact.fault ? wrongIn(fact.fault, setting) : undefined))
      .find((each) => each !== undefined);
    const { fault = null } = order?.state ?? {};
    if (setting.undeclaredFaults && fault && fault.message.length < 3)
      return `order ${order?.orderId} is in Error with a fault without a message`;
    return wrong && `order ${order?.orderId} has ${wrong}`;
  }),
});

function wrongIn(
  fault: Fault,
  { declaredFaults, undeclaredFaults }: Pick<Setting, 'declaredFaults' | 'undeclaredFaults'>,
): string | undefined {
  const { type, class: faultClass, message, permanent } = fault;
  const text = JSON.stringify(fault);
  if ((undeclaredFaults && message.trim() === '') || typeof permanent !== 'boolean')
    return `a fault without a message, or without the field "permanent": ${text}`;
  const paths = declaredFaults.flatMap(({ name, path }) => (name === type.slice(type.lastIndexOf('/') + 1) ? [path] : []));
  if (paths.length > 0 && (!paths.includes(type) || faultClass !== 'expected')) return `a fault that differs from its declaration: ${text}`;
  if (engineShortTypes.has(type)) return `a fault of the engine without its full type: ${text}`;
  return undeclaredFaults?.has(type) && faultClass !== 'unexpected' ? `an undeclared fault that is not unexpected: ${text}` : undefined;
}
