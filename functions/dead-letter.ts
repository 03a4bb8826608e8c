import type { SQSEvent } from 'aws-lambda';
import { judgedBefore } from '../lib/batch.ts';
import { deliveryOf } from '../lib/delivery.ts';
import type { FunctionContext } from '../lib/function.ts';
import { createSettingAside } from '../lib/poison/dead-letters.ts';

/** Messages that were given up, or delivered too often without success: kept for a person, who is told. */
export const create = ({ system }: FunctionContext) => {
  const setAside = createSettingAside(system);
  return (event: SQSEvent) => judgedBefore(event, (record) => setAside(deliveryOf(record)), system);
};
