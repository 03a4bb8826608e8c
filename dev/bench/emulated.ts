import type { AwsEndpoints } from '#adapters/aws/open';
import { type Emulator, startEventBus, startFauxqs } from '../../test/support/emulators.ts';

/** Runs some work with emulators, and stops them afterwards. */
export async function withEmulators<T>(startTable: () => Promise<Emulator>, work: (endpoints: AwsEndpoints) => Promise<T>): Promise<T> {
  const [table, queues, bus] = await Promise.all([startTable(), startFauxqs(), startEventBus()]);
  try {
    return await work({ dynamodb: table.endpoint, sqs: queues.endpoint, eventbridge: bus.endpoint });
  } finally {
    await Promise.all([table.stop(), queues.stop(), bus.stop()]);
  }
}
