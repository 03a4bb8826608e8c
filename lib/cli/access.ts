import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '#api/authentication';

export interface Access {
  readonly role: Role;
  readonly client?: string | undefined;
}

/**
 * Returns a token signed with the key of the data folder, or undefined without a key. A new key would not help: the running
 * system would not accept it.
 */
export async function tokenFor({ role, client }: Access, dataFolder: string): Promise<string | undefined> {
  if (!existsSync(join(dataFolder, 'issuer.json'))) return undefined;
  const { openLocalIssuer } = await import('#api/local-issuer');
  return openLocalIssuer(dataFolder).sign({ role, subject: 'cli', ...(client === undefined ? {} : { client }) });
}
