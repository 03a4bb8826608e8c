import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { type PutBackPorts, putBack } from './put-back.ts';

/** The queue that a record came from, without the prefix of the deployment. */
export const queueOf = ({ eventSourceARN }: SQSRecord, prefix = ''): string => {
  const name = eventSourceARN.slice(eventSourceARN.lastIndexOf(':') + 1);
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
};

/**
 * Handles each group of a batch by itself. The records of a group that throws go back to their queue; the others do
 * not. An unknown or empty identifier would bring back the whole batch, so only ids that came are named. What a newer
 * version of the program wrote is put back for whoever runs that.
 */
export async function inGroups<T>(
  event: SQSEvent,
  groups: ReadonlyMap<T, readonly SQSRecord[]>,
  handle: (group: T, records: readonly SQSRecord[]) => Promise<void>,
  ports: PutBackPorts,
): Promise<SQSBatchResponse> {
  const { telemetry } = ports;
  const failures: string[] = [];
  const again = (records: readonly SQSRecord[], error: unknown): void => {
    telemetry.log('warn', 'record not processed: it will be delivered again', {
      error,
      messageId: records.map(({ messageId }) => messageId).join(' '),
    });
    telemetry.count('recordFailed', records.length);
    failures.push(...records.map(({ messageId }) => messageId));
  };
  await Promise.all(
    [...groups].map(async ([group, records]) => {
      try {
        await handle(group, records);
      } catch (error) {
        const messages = records.map((record) => ({ record, queue: queueOf(record), body: record.body }));
        const tooOld = await putBack(messages, error, ports).catch(() => messages);
        if (tooOld.length > 0)
          again(
            tooOld.map(({ record }) => record),
            error,
          );
      }
    }),
  );
  const known = new Set(event.Records.map(({ messageId }) => messageId));
  return { batchItemFailures: failures.filter((id) => known.has(id)).map((itemIdentifier) => ({ itemIdentifier })) };
}

/** Every record by itself. */
export const oneByOne = (event: SQSEvent, handle: (record: SQSRecord) => Promise<void>, ports: PutBackPorts): Promise<SQSBatchResponse> =>
  inGroups(
    event,
    new Map(event.Records.map((record) => [record.messageId, [record]])),
    (_, [record]) => handle(record as SQSRecord),
    ports,
  );
