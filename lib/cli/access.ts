import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '#api/authentication';

export interface Access {
  readonly role: Role;
  readonly client?: string | undefined;
}

const validSeconds = 60;
const renewAfterMs = 30_000;

/** Returns a function that signs the tokens of one command. A token is valid for a minute. After half a minute, a call gets a new one. */
export function createSigning({ role, client }: Access, dataFolder: string): () => Promise<string | undefined> {
  let signed: { readonly token: string | undefined; readonly at: number } | undefined;
  return async () => {
    if (signed && performance.now() - signed.at < renewAfterMs) return signed.token;
    signed = { token: await tokenFor({ role, client }, dataFolder), at: performance.now() };
    return signed.token;
  };
}

/**
 * Returns a token signed with the key of the data folder, or undefined if the folder has no key. It makes no new key, because the running
 * system would not accept the tokens of that key.
 */
async function tokenFor({ role, client }: Access, dataFolder: string): Promise<string | undefined> {
  if (!existsSync(join(dataFolder, 'issuer.json'))) return undefined;
  const { openLocalIssuer } = await import('#api/local-issuer');
  const bearer = { role, subject: 'cli', ...(client === undefined ? {} : { client }) };
  return openLocalIssuer(dataFolder).sign({ ...bearer, expiresInSeconds: validSeconds });
}
