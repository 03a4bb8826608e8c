import type { SQSEvent } from 'aws-lambda';
import { deliveryOf } from '#ports/delivery';
import { redeliverFailed } from '#roles/dead-letters/batch';
import { createDeadLettering } from '#roles/dead-letters/keep';
import type { FunctionContext } from '#runtime/function';

/** Keeps messages that failed too often as dead letters and alerts the operators. */
export const create = ({ system }: FunctionContext) => {
  const deadLetter = createDeadLettering(system);
  return (event: SQSEvent) => redeliverFailed(event, (record) => deadLetter(deliveryOf(record)), system);
};
