import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '#api/authentication';

export interface Access {
  readonly role: Role;
  readonly client?: string | undefined;
}

const validSeconds = 60;
const renewAfterMs = 30_000;

/** Signs tokens for one command. Each is valid for a minute, so a command that takes longer gets a new one. */
export function createSigning({ role, client }: Access, dataFolder: string): () => Promise<string | undefined> {
  let signed: { readonly token: string | undefined; readonly at: number } | undefined;
  return async () => {
    if (signed && performance.now() - signed.at < renewAfterMs) return signed.token;
    signed = { token: await tokenFor({ role, client }, dataFolder), at: performance.now() };
    return signed.token;
  };
}

/**
 * Returns a token signed with the key of the data folder, or undefined without a key. A new key would not help: the running
 * system would not accept it.
 */
async function tokenFor({ role, client }: Access, dataFolder: string): Promise<string | undefined> {
  if (!existsSync(join(dataFolder, 'issuer.json'))) return undefined;
  const { openLocalIssuer } = await import('#api/local-issuer');
  const bearer = { role, subject: 'cli', ...(client === undefined ? {} : { client }) };
  return openLocalIssuer(dataFolder).sign({ ...bearer, expiresInSeconds: validSeconds });
}
