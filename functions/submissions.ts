import type { SQSEvent } from 'aws-lambda';
import { oneByOne } from '../lib/batch.ts';
import type { FunctionContext } from '../lib/function.ts';
import { createIntake } from '../lib/intake.ts';

/** Orders of clients that post a message instead of calling the API. */
export const create = ({ system }: FunctionContext) => {
  const take = createIntake(system);
  return (event: SQSEvent) => oneByOne(event, (record) => take(record.body, record.attributes.SenderId), system);
};
