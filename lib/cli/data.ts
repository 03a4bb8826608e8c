import { existsSync } from 'node:fs';
import type { Embedded } from '#adapters/sqlite/open';
import { systemClock } from '#ports/clock';
import { SetupError } from '#ports/errors';
import type { Store } from '#ports/store';
import type { Config } from '#runtime/config';

/** The data folder has no store, because no system has started with it. */
export class MissingStoreError extends SetupError {
  constructor(dataFolder: string) {
    super(
      `The data folder ${dataFolder} has no store.`,
      "Name the system's data folder with --data or REDRESS_DATA. npx redress start creates one.",
    );
  }
}

/** Opens the store of the data folder while `work` runs. Never creates a store. */
export async function withData<T>({ adapters }: Config, dataFolder: string, work: (embedded: Embedded) => Promise<T>): Promise<T> {
  if (adapters === 'aws')
    throw new SetupError('This command reads the embedded store, but REDRESS_ADAPTERS=aws uses DynamoDB.', 'Unset REDRESS_ADAPTERS.');
  // Imported here, because commands that only call the API start faster without the store.
  const { dataFile, openEmbedded } = await import('#adapters/sqlite/open');
  if (!existsSync(dataFile(dataFolder))) throw new MissingStoreError(dataFolder);
  const embedded = openEmbedded(dataFolder, { clock: systemClock });
  try {
    return await work(embedded);
  } finally {
    await embedded.database.close();
  }
}

/** Opens the table that the environment names, with the credentials that the AWS SDK finds, while `work` runs. */
export async function withTable<T>(
  environment: { readonly [name: string]: string | undefined },
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const { openAws, readAwsConfig } = await import('#adapters/aws/open');
  const aws = openAws(readAwsConfig(environment), { clock: systemClock });
  try {
    return await work(aws.store);
  } finally {
    aws.close();
  }
}
