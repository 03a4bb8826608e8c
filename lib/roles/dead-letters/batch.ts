import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { type Delivery, deliveryOf } from '#ports/delivery';
import type { Telemetry } from '#ports/telemetry';
import { failureOf } from './classify.ts';
import type { Outages } from './outages.ts';
import { createFailurePolicy, type FailurePolicy, type FailurePolicyPorts } from './outcome.ts';
import { inTurn, isRedelivered } from './redelivered.ts';

type Handle<T> = (group: T, records: readonly SQSRecord[]) => Promise<void>;

/** The parts that handle a batch. `handle` rejects if any record of its group must be redelivered. */
interface Batch<T> {
  readonly handle: Handle<T>;
  readonly failurePolicy: FailurePolicy;
  readonly outages: Outages;
}

/**
 * Handles the groups of records in a batch independently; the failure policy decides about each failed message. New messages are handled
 * first, all in parallel. Redelivered messages may have crashed a process, so they begin one after the other. After a recent outage,
 * redelivered messages are handled like new ones.
 */
export async function inGroups<T>(
  event: SQSEvent,
  groups: ReadonlyMap<T, readonly SQSRecord[]>,
  handle: Handle<T>,
  ports: FailurePolicyPorts,
): Promise<SQSBatchResponse> {
  const failurePolicy = createFailurePolicy(ports);
  const redelivered = new Map<string, { readonly group: T; readonly record: SQSRecord }>();
  const fresh = [...groups].map(([group, records]) => {
    // After an outage nearly all messages are redelivered, without any crash. Beginning them one after the other would take too long.
    if (!ports.outages.areRecent())
      for (const record of records) if (isRedelivered(deliveryOf(record))) redelivered.set(record.messageId, { group, record });
    return { group, records: records.filter(({ messageId }) => !redelivered.has(messageId)) };
  });
  const handleOne = async ({ messageId }: Delivery): Promise<void> => {
    const found = redelivered.get(messageId);
    if (found) await handle(found.group, [found.record]);
  };

  const again = [
    ...(
      await Promise.all(fresh.map(({ group, records }) => atOnce(group, records, { handle, failurePolicy, outages: ports.outages })))
    ).flat(),
    ...(await inTurn(
      [...redelivered.values()].map(({ record }) => deliveryOf(record)),
      handleOne,
      failurePolicy,
      ports,
    )),
  ];
  return responseTo(
    event,
    again.map(({ messageId }) => messageId),
  );
}

/**
 * Handles records together. If the handler fails on the content of a record, handles each record alone to find it. Returns the records to
 * redeliver.
 */
async function atOnce<T>(group: T, records: readonly SQSRecord[], batch: Batch<T>): Promise<readonly Delivery[]> {
  if (records.length === 0) return [];
  const { handle, failurePolicy, outages } = batch;
  const deliveries = records.map(deliveryOf);
  try {
    await handle(group, records);
  } catch (error) {
    const again: Delivery[] = [];
    if (failureOf(error) === 'transient') for (const _ of records) outages.met();
    if (records.length > 1 && failureOf(error) === 'content')
      for (const record of records) again.push(...(await atOnce(group, [record], batch)));
    else for (const delivery of deliveries) if (await failurePolicy.failed(delivery, error)) again.push(delivery);
    return again;
  }
  for (const delivery of deliveries) await failurePolicy.succeeded(delivery);
  return [];
}

/** Handles every record of a batch independently. */
export const oneByOne = (
  event: SQSEvent,
  handle: (record: SQSRecord) => Promise<void>,
  ports: FailurePolicyPorts,
): Promise<SQSBatchResponse> =>
  inGroups(
    event,
    new Map(event.Records.map((record) => [record.messageId, [record]])),
    (_, [record]) => handle(record as SQSRecord),
    ports,
  );

/** Handles every record independently and has each failed one redelivered, for messages that the failure policy has already given up. */
export async function redeliverFailed(
  event: SQSEvent,
  handle: (record: SQSRecord) => Promise<void>,
  { telemetry }: { readonly telemetry: Telemetry },
): Promise<SQSBatchResponse> {
  const again: string[] = [];
  await Promise.all(
    event.Records.map(async (record) => {
      try {
        await handle(record);
      } catch (error) {
        telemetry.log('warn', 'failed to process record, awaiting redelivery', { error, messageId: record.messageId });
        telemetry.count('recordFailed');
        again.push(record.messageId);
      }
    }),
  );
  return responseTo(event, again);
}

/** Returns the response of a batch. It names only ids of the batch: an unknown or empty id would redeliver all of it. */
function responseTo(event: SQSEvent, again: readonly string[]): SQSBatchResponse {
  const known = new Set(event.Records.map(({ messageId }) => messageId));
  return { batchItemFailures: again.filter((id) => known.has(id)).map((itemIdentifier) => ({ itemIdentifier })) };
}
