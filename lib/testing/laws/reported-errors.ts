import type { Observation } from '#testing/world/observation';
import { type Law, on } from './law.ts';

type Failed = Extract<Observation, { type: 'failed' }>;

/** Errors that the system throws on purpose: an outage, a lease of another host, a stopping host, a bulk run that may be stopped. */
const expectedNames: ReadonlySet<string> = new Set([
  'Unavailable',
  'InstanceLockedError',
  'LeaseLostError',
  'RunReadTooLongAgoError',
  'AbortError',
]);
const expectedMessages: ReadonlySet<string> = new Set([
  'The event bus refused the announcement.',
  'This request ends here: its time is over, or its host stops.',
  'Another message of the same conversation is being processed.',
  'The failure of the message was not counted: other writes of the same count came first at every try. The message is redelivered.',
]);
/** Errors about a consumer: it puts a message off to try another one first, or it has failed so often in a row that it is closed. */
const ofConsumer =
  /^(The consumer "[a-z-]+" puts this message off: another message is tried first, and this one comes again\.|\d+ failures in a row on [a-z-]+-messages)$/;
/** Whether a process of the previous deployment meets an order of the new one. */
const isOlderProcess = ({ name, message }: Failed): boolean =>
  name === 'UnreadableRecordError' && message.includes('its workflow sale@2 is not part');

/** Whether DynamoDB throttles a partition or refuses an item that is too large. `store-limits.ts` judges these. */
const isLimit = ({ name, message }: Failed): boolean =>
  (name === 'StoreUnavailableError' && message.includes('ProvisionedThroughputExceededException')) ||
  message.includes('DynamoDB refuses the write: ValidationException: Item size');

/** Only outages and expected errors are thrown or logged, each with a message. Redelivery would hide any other bug. */
export function reportedErrors(): Law {
  let isPoisoned = false;
  /** Orders that are damaged or written by a newer program: any error may concern them. */
  const exempt = new Set<string>();
  return {
    name: 'reported errors',
    after: on(['poisoned', 'newer', 'damaged', 'failed'], (observation) => {
      if (observation.type === 'poisoned') isPoisoned = true;
      if (observation.type === 'newer' || observation.type === 'damaged') exempt.add(observation.orderId);
      if (observation.type === 'failed' && observation.message.trim() === '')
        return `${observation.where}: ${observation.name} without a message`;
      if (
        observation.type !== 'failed' ||
        expectedNames.has(observation.name) ||
        expectedMessages.has(observation.message) ||
        ofConsumer.test(observation.message) ||
        isOlderProcess(observation) ||
        isLimit(observation)
      )
        return undefined;
      if (isPoisoned && observation.where.startsWith('failed to process record')) return undefined;
      return concerns(observation, exempt) ? undefined : `${observation.where}: ${observation.name}: ${observation.message}`;
    }),
  };
}

/** Whether the error names one of these orders. */
function concerns({ orderId, message }: Failed, exempt: ReadonlySet<string>): boolean {
  if (orderId !== undefined) return exempt.has(orderId);
  return [...exempt].some((id) => message.includes(id));
}
