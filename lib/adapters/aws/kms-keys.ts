import { randomBytes } from 'node:crypto';
import type { KMSClient } from '@aws-sdk/client-kms';
import type { Clock } from '#ports/clock';
import { collections, type Documents } from '#ports/documents';
import { StoreUnavailableError } from '#ports/errors';
import type { DayKey, Keys } from '#ports/keys';
import { dayOf } from '#ports/util/days';

export interface KmsKeysOptions {
  /** Opens the client of KMS at its first use. */
  readonly client: () => Promise<KMSClient>;
  /** The id or the ARN of the key that wraps the day keys. */
  readonly keyId: string;
  readonly documents: Pick<Documents, 'document' | 'putDocument'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The time for which a process uses a day key before it asks KMS again. A key that is disabled is used for an hour at most. */
const cachedForMs = 3_600_000;
const documentId = 'KEY';

interface Known {
  readonly key: Promise<Uint8Array>;
  readonly until: number;
}

/**
 * Returns keys that KMS wraps: one item for each day holds the encrypted key of that day. KMS makes the key for the first order of the day.
 * Each process asks KMS to decrypt the key at most once an hour, and not once for each order.
 */
export function kmsKeys({ client, keyId, documents, clock }: KmsKeysOptions): Keys {
  const known = new Map<string, Known>();

  async function make(day: string): Promise<Uint8Array> {
    const { GenerateDataKeyCommand } = await import('@aws-sdk/client-kms');
    const made = await (await client()).send(
      new GenerateDataKeyCommand({ KeyId: keyId, KeySpec: 'AES_256', EncryptionContext: contextOf(day) }),
    );
    if (!made.Plaintext || !made.CiphertextBlob) throw new Error('KMS returned no data key.');
    const content = { wrapped: Buffer.from(made.CiphertextBlob).toString('base64') };
    const write = await documents.putDocument({ collection: collections.key(day), id: documentId, rev: 1, content }, 0);
    // If another process has written the key of the day first, this process uses that key.
    return write.outcome === 'written' ? made.Plaintext : unwrap(day, String(write.current?.content['wrapped']));
  }

  async function unwrap(day: string, wrapped: string): Promise<Uint8Array> {
    const { DecryptCommand } = await import('@aws-sdk/client-kms');
    const { Plaintext } = await (await client()).send(
      new DecryptCommand({ KeyId: keyId, CiphertextBlob: Buffer.from(wrapped, 'base64'), EncryptionContext: contextOf(day) }),
    );
    if (!Plaintext) throw new Error('KMS returned no key.');
    return Plaintext;
  }

  async function read(day: string, mayMake: boolean): Promise<Uint8Array> {
    const found = await documents.document(collections.key(day), documentId);
    if (found) return unwrap(day, String(found.content['wrapped']));
    if (mayMake) return make(day);
    throw new Error(`The table has no data key for the day ${day}. Restore the item ${collections.key(day)} from a backup.`);
  }

  async function keyOf(day: string, mayMake: boolean): Promise<DayKey> {
    const now = clock.now();
    let found = known.get(day);
    if (!found || found.until <= now) {
      found = { key: read(day, mayMake), until: now + cachedForMs };
      known.set(day, found);
    }
    try {
      return { day, key: await found.key };
    } catch (error) {
      // The next call asks KMS again.
      if (known.get(day) === found) known.delete(day);
      throw isOfKms(error)
        ? new StoreUnavailableError(`KMS cannot provide the data key of the day ${day}: ${error.message}`, { fatal: false, cause: error })
        : error;
    }
  }

  return {
    today: () => keyOf(dayOf(clock.now()), true),
    of: (day) => keyOf(day, false),
    random: randomBytes,
  };
}

/** KMS binds each day key to this context. The rights of the functions name its fixed part. */
export const contextOf = (day: string) => ({ [keyContext.name]: keyContext.value, day });

export const keyContext = { name: 'redress', value: 'day-key' } as const;

const isOfKms = (error: unknown): error is Error => error instanceof Error && '$metadata' in error;
