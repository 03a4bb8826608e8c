import type { AwsConfig, AwsEndpoints } from '#adapters/aws/open';
import { redriveIn, topologyOf } from '#runtime/topology';
import { clientsAt, createQueue, createTable, newName } from './support.ts';

/**
 * Creates, if missing, what the stack creates: a table, the queues of the topology with their dead letters, and a bus.
 */
export async function deploy(
  app: Parameters<typeof topologyOf>[0],
  endpoints: AwsEndpoints,
  existing?: { readonly table: string },
): Promise<AwsConfig> {
  const { dynamodb, sqs } = clientsAt(endpoints);
  const table = existing?.table ?? (await createTable(dynamodb));
  const queuePrefix = `${newName()}-`;
  const functions = topologyOf(app);
  const names = functions.flatMap(({ sources }) => sources.map(({ queue }) => queue));
  const deadLettersFirst = names.toSorted((a, b) => Number(b.endsWith('-dead')) - Number(a.endsWith('-dead')));
  for (const queue of deadLettersFirst) await createQueue(sqs, queuePrefix, queue, redriveIn(functions)(queue));
  return { region: 'eu-central-1', table, queuePrefix, bus: 'redress' };
}
