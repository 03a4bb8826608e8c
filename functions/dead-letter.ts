import type { SQSEvent } from 'aws-lambda';
import { deliveryOf } from '#ports/delivery';
import { judgedBefore } from '#roles/dead-letters/batch';
import { createDeadLettering } from '#roles/dead-letters/keep';
import type { FunctionContext } from '#runtime/function';

/** Messages that were given up, or delivered too often without success: kept for a person, who is told. */
export const create = ({ system }: FunctionContext) => {
  const deadLetter = createDeadLettering(system);
  return (event: SQSEvent) => judgedBefore(event, (record) => deadLetter(deliveryOf(record)), system);
};
