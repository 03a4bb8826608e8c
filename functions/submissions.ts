import type { SQSEvent } from 'aws-lambda';
import { oneByOne } from '#roles/dead-letters/batch';
import { createSubmissionConsumer } from '#roles/submission/queue-consumer';
import { createRateLimit } from '#roles/submission/rate-limited';
import type { FunctionContext } from '#runtime/function';

/** Handles orders that clients submit as messages instead of calling the API. */
export const create = ({ system }: FunctionContext) => {
  const consumer = createSubmissionConsumer(system);
  const limit = createRateLimit(consumer, system);
  return async (given: SQSEvent) => {
    const { event, later } = await limit(given);
    const { batchItemFailures } = await oneByOne(event, (record) => consumer.consume(record.body, record.attributes.SenderId), system);
    // A message beyond the rate of its client counts as failed, so that its queue delivers it again later.
    return { batchItemFailures: [...batchItemFailures, ...later.map((itemIdentifier) => ({ itemIdentifier }))] };
  };
};
