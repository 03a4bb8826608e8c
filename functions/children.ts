import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { oneByOne } from '../lib/batch.ts';
import { inGroup } from '../lib/channel.ts';
import { createChildren } from '../lib/children.ts';
import { groupIn } from '../lib/delivery.ts';
import type { FunctionContext } from '../lib/function.ts';
import { agentMessageIn } from '../lib/incoming.ts';

/** Orders that other orders call. */
export const create = ({ system }: FunctionContext) => {
  const take = (record: SQSRecord): Promise<void> =>
    createChildren({ ...system, channel: inGroup(system.channel, groupIn(record).group) })(agentMessageIn(record.body));
  return (event: SQSEvent) => oneByOne(event, take, system);
};
