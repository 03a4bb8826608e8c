import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JSONWebKeySet, SignJWT } from 'jose';
import * as z from 'zod';
import { SetupError } from '#ports/errors';
import type { Issuer, Role } from './authentication.ts';

/** A token issuer with its private key, for one machine. */
export interface LocalIssuer extends Issuer {
  readonly audience: string;
  readonly keys: JSONWebKeySet;
  /** The key that signs list cursors. */
  readonly cursorKey: Uint8Array;
  sign(token: {
    readonly role: Role;
    readonly client?: string;
    readonly subject?: string;
    readonly groups?: readonly string[];
    readonly expiresInSeconds?: number;
  }): Promise<string>;
}

const twelveHours = 12 * 60 * 60;

const Key = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
  kid: z.string(),
  alg: z.literal('ES256'),
  use: z.literal('sig'),
});
const IssuerFile = z.object({ key: Key, cursorKey: z.string().min(43) });
type IssuerKeys = z.infer<typeof IssuerFile>;

/**
 * Opens the issuer whose key is in the data folder; creates the key on the first call.
 *
 * @throws SetupError when the folder cannot be used or the key file is damaged.
 */
export const openLocalIssuer = (dataFolder: string, { now = Date.now }: { readonly now?: () => number } = {}): LocalIssuer =>
  issuerWith(readOrMake(dataFolder), now);

/** Returns an issuer whose key exists in this process only. */
export const temporaryIssuer = ({ now }: { readonly now: () => number }): LocalIssuer => issuerWith(newKeys(), now);

function issuerWith({ key, cursorKey }: IssuerKeys, now: () => number): LocalIssuer {
  const { d: _, ...publicKey } = key;
  const privateKey = createPrivateKey({ key, format: 'jwk' });
  const issuer = 'http://redress.local';
  const audience = 'redress';
  return {
    issuer,
    audience,
    keys: { keys: [publicKey] },
    // The same clock sets and checks the times of a token, so no difference between clocks needs to be tolerated.
    skewSeconds: 0,
    cursorKey: Buffer.from(cursorKey, 'base64url'),
    sign({ role, client, groups = [], subject = client ?? role, expiresInSeconds = twelveHours }) {
      const issuedAt = Math.floor(now() / 1000);
      return new SignJWT({
        roles: [role],
        ...(client === undefined ? {} : { client }),
        ...(groups.length > 0 ? { groups: [...groups] } : {}),
      })
        .setProtectedHeader({ alg: 'ES256', kid: key.kid, typ: 'JWT' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(subject)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + expiresInSeconds)
        .sign(privateKey);
    },
  };
}

function readOrMake(dataFolder: string): IssuerKeys {
  const path = join(dataFolder, 'issuer.json');
  try {
    return read(path) ?? make(dataFolder, path);
  } catch (error) {
    if (error instanceof SetupError) throw error;
    throw new SetupError(
      `The data folder ${dataFolder} cannot be used: ${(error as Error).message}.`,
      'Make it writable, or choose another folder with REDRESS_DATA.',
    );
  }
}

function read(path: string): IssuerKeys | undefined {
  try {
    return IssuerFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code !== undefined) throw error;
    throw new SetupError(
      `The key file ${path} is damaged.`,
      'Delete it: the next start creates a new key, and tokens signed with the old one become invalid.',
    );
  }
}

/** Writes the file under a temporary name, then links it: if two processes start together, one link succeeds, and both read that file. */
function make(dataFolder: string, path: string): IssuerKeys {
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, JSON.stringify(newKeys()), { mode: 0o600, flag: 'wx' });
    chmodSync(draft, 0o600);
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const made = read(path);
  if (!made)
    throw new Error(`${path} was removed while it was being created. Start again; another process may have deleted the data folder.`);
  return made;
}

function newKeys(): IssuerKeys {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { ...privateKey.export({ format: 'jwk' }), kid: randomBytes(9).toString('base64url'), alg: 'ES256', use: 'sig' };
  return IssuerFile.parse({ key, cursorKey: randomBytes(32).toString('base64url') });
}
