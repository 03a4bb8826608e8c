import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { type Delivery, deliveryOf } from '#ports/delivery';
import type { Telemetry } from '#ports/telemetry';
import { failureOf } from './classify.ts';
import type { Outages } from './outages.ts';
import { createFailurePolicy, type FailurePolicy, type FailurePolicyPorts } from './outcome.ts';
import { inTurn, isRedelivered } from './redelivered.ts';

type Handle<T> = (group: T, records: readonly SQSRecord[]) => Promise<void>;

/** Rejects where any of them is to come again: nothing of what it was told is known to have happened. */
interface Batch<T> {
  readonly handle: Handle<T>;
  readonly failurePolicy: FailurePolicy;
  readonly outages: Outages;
}

/**
 * Handles each group of a batch by itself. What fails is judged: it goes back to its queue, or it is done with, in one way or
 * another; the others have nothing to do with that. What comes for the first time is handled first, all at once; what came
 * before, and may have killed whoever was at it, follows one at a time; but not where this process has met an outage.
 */
export async function inGroups<T>(
  event: SQSEvent,
  groups: ReadonlyMap<T, readonly SQSRecord[]>,
  handle: Handle<T>,
  ports: FailurePolicyPorts,
): Promise<SQSBatchResponse> {
  const failurePolicy = createFailurePolicy(ports);
  const suspects = new Map<string, { readonly group: T; readonly record: SQSRecord }>();
  const fresh = [...groups].map(([group, records]) => {
    // After an outage nearly everything has come before, and nothing has killed anybody: one at a time would take far too long.
    if (!ports.outages.areRecent())
      for (const record of records) if (isRedelivered(deliveryOf(record))) suspects.set(record.messageId, { group, record });
    return { group, records: records.filter(({ messageId }) => !suspects.has(messageId)) };
  });
  const handleOne = async ({ messageId }: Delivery): Promise<void> => {
    const suspect = suspects.get(messageId);
    if (suspect) await handle(suspect.group, [suspect.record]);
  };

  const again = [
    ...(
      await Promise.all(fresh.map(({ group, records }) => atOnce(group, records, { handle, failurePolicy, outages: ports.outages })))
    ).flat(),
    ...(await inTurn(
      [...suspects.values()].map(({ record }) => deliveryOf(record)),
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

/** Those that are to come again. Where what one of them says can't be handled, each is tried by itself: to see which. */
async function atOnce<T>(group: T, records: readonly SQSRecord[], batch: Batch<T>): Promise<readonly Delivery[]> {
  if (records.length === 0) return [];
  const { handle, failurePolicy, outages } = batch;
  const deliveries = records.map(deliveryOf);
  try {
    await handle(group, records);
  } catch (error) {
    const again: Delivery[] = [];
    if (failureOf(error) === 'passing') for (const _ of records) outages.met();
    if (records.length > 1 && failureOf(error) === 'content')
      for (const record of records) again.push(...(await atOnce(group, [record], batch)));
    else for (const delivery of deliveries) if (await failurePolicy.failed(delivery, error)) again.push(delivery);
    return again;
  }
  for (const delivery of deliveries) await failurePolicy.succeeded(delivery);
  return [];
}

/** Every record by itself. */
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

/** Every record by itself, and whatever fails comes again: for messages that have been judged. */
export async function judgedBefore(
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
        telemetry.log('warn', 'record not processed: it will be delivered again', { error, messageId: record.messageId });
        telemetry.count('recordFailed');
        again.push(record.messageId);
      }
    }),
  );
  return responseTo(event, again);
}

/** An unknown or empty identifier would bring back the whole batch, so only ids that came are named. */
function responseTo(event: SQSEvent, again: readonly string[]): SQSBatchResponse {
  const known = new Set(event.Records.map(({ messageId }) => messageId));
  return { batchItemFailures: again.filter((id) => known.has(id)).map((itemIdentifier) => ({ itemIdentifier })) };
}
