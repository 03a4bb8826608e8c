import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { groupIn } from '#ports/delivery';
import { inGroup } from '#ports/queues';
import { createChildOrders } from '#roles/child-orders/child-orders';
import { oneByOne } from '#roles/dead-letters/batch';
import { agentMessageIn } from '#roles/scheduler/incoming';
import type { FunctionContext } from '#runtime/function';

/** Handles the requests of orders that call other orders. Each message that the function sends has the message group of the request. */
export const create = ({ system }: FunctionContext) => {
  const take = (record: SQSRecord): Promise<void> =>
    createChildOrders({ ...system, queues: inGroup(system.queues, groupIn(record).group) })(agentMessageIn(record.body));
  return (event: SQSEvent) => oneByOne(event, take, system);
};
