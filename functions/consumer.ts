import type { SQSEvent } from 'aws-lambda';
import { deliveryOf } from '#ports/delivery';
import { oneByOne } from '#roles/dead-letters/batch';
import { clientOrders } from '#roles/message-consumer/client-orders';
import { createConsumer } from '#roles/message-consumer/consumer';
import type { FunctionContext, Invocation } from '#runtime/function';

/** Handles the messages of one consumer of the app. The failure policy decides about each message that cannot be handled. */
export const create = ({ system, environment }: FunctionContext) => {
  const name = environment['REDRESS_CONSUMER'] ?? '';
  const definition = system.definitions.consumers.find((consumer) => consumer.name === name);
  if (!definition) throw new Error(`The app has no consumer "${name}". Check REDRESS_CONSUMER.`);
  const ordersFor = (messageId: string) => clientOrders(definition.client ?? name, `${name}/${messageId}`, system);
  const consume = createConsumer(definition, { ...system, ordersFor });
  return (event: SQSEvent, { stopping }: Invocation) => {
    consume.arrived();
    return oneByOne(event, (record) => consume(deliveryOf(record), stopping), system);
  };
};
