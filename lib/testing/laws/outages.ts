import type { Observation } from '#testing/world/observation';
import { type Law, on } from './law.ts';

type Failed = Extract<Observation, { type: 'failed' }>;

/** What the system throws itself where it is right to: somebody has the order, or its host is to stop. */
const known: ReadonlySet<string> = new Set(['Unavailable', 'InstanceLockedError', 'AbortError']);
const texts: ReadonlySet<string> = new Set([
  'The event bus refused the announcement.',
  'The time for this request is over.',
  'Another message of the same conversation is being processed.',
]);
/** A process of the deployment before is told so: the newer one is about to start. */
const isOlder = ({ name, message }: Failed): boolean =>
  name === 'UnreadableRecordError' && message.includes('its workflow sale@2 is not part');

/** What DynamoDB says where a partition takes no more, or an item is too large: see `limits.ts`. */
const isLimit = ({ name, message }: Failed): boolean =>
  (name === 'StoreUnavailableError' && message.includes('ProvisionedThroughputExceededException')) ||
  message.includes('DynamoDB refuses the write: ValidationException: Item size');

/** Only outages are thrown, and what is told as an error has a reason: a slip of the program must not hide behind redelivery. */
export function outages(): Law {
  let isPoisoned = false;
  const strange = new Set<string>();
  return {
    name: 'outages',
    after: on(['poisoned', 'newer', 'damaged', 'failed'], (observation) => {
      if (observation.type === 'poisoned') isPoisoned = true;
      if (observation.type === 'newer' || observation.type === 'damaged') strange.add(observation.orderId);
      if (observation.type === 'failed' && observation.message.trim() === '')
        return `${observation.where}: ${observation.name}, and nothing is said`;
      if (
        observation.type !== 'failed' ||
        known.has(observation.name) ||
        texts.has(observation.message) ||
        isOlder(observation) ||
        isLimit(observation)
      )
        return undefined;
      if (isPoisoned && observation.where.startsWith('failed to process record')) return undefined;
      return isAbout(observation, strange) ? undefined : `${observation.where}: ${observation.name}: ${observation.message}`;
    }),
  };
}

/** Of an order that is damaged, or another program's, anything may be said. */
function isAbout({ orderId, message }: Failed, strange: ReadonlySet<string>): boolean {
  if (orderId !== undefined) return strange.has(orderId);
  return [...strange].some((id) => message.includes(id));
}
