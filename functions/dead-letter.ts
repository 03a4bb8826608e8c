import type { SQSEvent } from 'aws-lambda';
import { oneByOne, queueOf } from '../lib/batch.ts';
import type { FunctionContext } from '../lib/function.ts';
import { setAside } from '../lib/poison.ts';
import { waitedProblem } from '../lib/put-back.ts';

/** Messages that were delivered too often without success: kept for a person, who is told. */
export const create =
  ({ system }: FunctionContext) =>
  (event: SQSEvent) =>
    oneByOne(
      event,
      (record) =>
        setAside(
          {
            queue: queueOf(record).replace(/-dead$/, ''),
            body: record.body,
            messageId: record.messageId,
            reason: waitedProblem(record.body) ?? 'It was delivered too often without success.',
          },
          system,
        ),
      system,
    );
