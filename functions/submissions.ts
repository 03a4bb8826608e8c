import type { SQSEvent } from 'aws-lambda';
import { oneByOne } from '#roles/dead-letters/batch';
import { createSubmissionConsumer } from '#roles/submission/queue-consumer';
import type { FunctionContext } from '#runtime/function';

/** Handles orders that clients submit as messages instead of calling the API. */
export const create = ({ system }: FunctionContext) => {
  const take = createSubmissionConsumer(system);
  return (event: SQSEvent) => oneByOne(event, (record) => take(record.body, record.attributes.SenderId), system);
};
