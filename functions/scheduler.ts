import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { groupIn, queueOf } from '#ports/delivery';
import { inGroups } from '#roles/dead-letters/batch';
import { invalidMessage, parseIncoming } from '#roles/scheduler/incoming';
import type { FunctionContext } from '#runtime/function';

/** Handles replies and wake-ups. All messages of a batch for one order are applied in one write. */
export const create = ({ system }: FunctionContext) => {
  const { scheduler } = system;

  return (event: SQSEvent) => {
    const parsed = new Map(event.Records.map((record) => [record, parseIncoming(record.body, queueOf(record))]));
    // Messages are grouped by order. A message that cannot be parsed is a group of its own, so that it fails alone.
    const groups = Map.groupBy(event.Records, (record) => parsed.get(record)?.orderId ?? record.messageId);
    const accept = async (orderId: string, records: readonly SQSRecord[]) => {
      const incoming = records.map((record) => {
        const message = parsed.get(record);
        if (!message) throw invalidMessage(record.body);
        return message.incoming;
      });
      await scheduler.accept(
        orderId,
        incoming,
        records.map((record) => ({ queue: queueOf(record), body: record.body, ...groupIn(record) })),
      );
    };
    return inGroups(event, groups, accept, system);
  };
};
