import type { SQSEvent } from 'aws-lambda';
import { oneByOne } from '../lib/batch.ts';
import { createChildren } from '../lib/children.ts';
import type { FunctionContext } from '../lib/function.ts';
import { agentMessageIn } from '../lib/incoming.ts';

/** Orders that other orders call. */
export const create = ({ system }: FunctionContext) => {
  const take = createChildren(system);
  return (event: SQSEvent) => oneByOne(event, (record) => take(agentMessageIn(record.body)), system);
};
