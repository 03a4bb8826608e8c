import { createHmac, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '#ports/clock';
import { SetupError, StoreUnavailableError } from '#ports/errors';
import type { DayKey, Keys } from '#ports/keys';
import { dayOf } from '#ports/util/days';

/** Keys on one machine. The functions of `now` are synchronous, so that a write of the database can use them. */
export interface LocalKeys extends Keys {
  readonly now: { today(): DayKey; of(day: string): DayKey };
}

type Clocked = Pick<Clock, 'now'>;

const keyBytes = 32;

const localKeys = (today: () => DayKey, of: (day: string) => DayKey, random: Keys['random']): LocalKeys => ({
  now: { today, of },
  today: async () => today(),
  of: async (day) => of(day),
  random,
});

export const keyFile = (folder: string): string => join(folder, 'keys.json');

/**
 * Returns the keys in the file `keys.json` of a data folder. Each day has its own key, made when it is first needed. Several processes may
 * share the folder.
 */
export function keysInFile(folder: string, clock: Clocked): LocalKeys {
  const path = keyFile(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let known = new Map<string, Buffer>();
  const read = (): Map<string, Buffer> => {
    known = readKeys(path);
    return known;
  };
  return localKeys(
    () => {
      const day = dayOf(clock.now());
      const key = known.get(day) ?? read().get(day) ?? addKey(path, day, read);
      return { day, key };
    },
    (day) => {
      const key = known.get(day) ?? read().get(day);
      if (!key) throw new Error(`The key of ${day} is not in ${path}. Restore this file from the backup of the data folder.`);
      return { day, key };
    },
    randomBytes,
  );
}

/** Returns keys that last as long as this process, for a database in memory. With a seed, all keys and random bytes follow from it. */
export function keysInMemory(clock: Clocked, seed?: string): LocalKeys {
  const secret = seed === undefined ? processSecret : Buffer.from(seed);
  const derived = (name: string): Buffer => createHmac('sha256', secret).update(name).digest();
  let drawn = 0;
  const of = (day: string): DayKey => ({ day, key: derived(`day/${day}`) });
  return localKeys(
    () => of(dayOf(clock.now())),
    of,
    seed === undefined ? randomBytes : (bytes) => derived(`random/${++drawn}`).subarray(0, bytes),
  );
}

const processSecret = randomBytes(keyBytes);

function readKeys(path: string): Map<string, Buffer> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error;
  }
  try {
    const keys = Object.entries(JSON.parse(text) as { readonly [day: string]: string });
    return new Map(keys.map(([day, key]) => [day, Buffer.from(key, 'base64url')]));
  } catch {
    throw new SetupError(
      `The key file ${path} is damaged.`,
      'Restore it from the backup of the data folder. Without it, nobody can read the secrets of the orders.',
    );
  }
}

/**
 * Adds a key to the file and returns it, or returns the key of that day that another process has added. The new file replaces the old one
 * in one step, so that a crash leaves one of them.
 */
function addKey(path: string, day: string, read: () => Map<string, Buffer>): Buffer {
  const release = lock(`${path}.lock`);
  try {
    const keys = read();
    const key = keys.get(day) ?? randomBytes(keyBytes);
    keys.set(day, key);
    const text = JSON.stringify(Object.fromEntries([...keys].map(([each, of]) => [each, of.toString('base64url')])), null, 2);
    writeWhole(`${path}.new`, `${text}\n`);
    renameSync(`${path}.new`, path);
    return key;
  } finally {
    release();
  }
}

function writeWhole(path: string, text: string): void {
  const file = openSync(path, 'w', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  chmodSync(path, 0o600);
}

/** A process holds the lock for one write of a small file. A lock older than `lockMaxMs` belongs to a process that crashed. */
const lockMaxMs = 5_000;
const lockPollMs = 5;

/** Waits for the lock of the key file: if two processes added keys at the same time, the file would lose one of the keys. */
function lock(path: string): () => void {
  for (;;) {
    try {
      closeSync(openSync(path, 'wx', 0o600));
      return () => rmSync(path, { force: true });
    } catch (error) {
      // The folder is not created again: new keys could not decrypt the orders of the old folder.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT')
        throw new StoreUnavailableError(`The data folder ${dirname(path)} is gone.`, { fatal: true });
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const held = statSync(path, { throwIfNoEntry: false });
    if (held && Date.now() - held.mtimeMs > lockMaxMs) removeStale(path, held);
    else if (held) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lockPollMs);
  }
}

/**
 * Removes the lock of a process that crashed. Another process may have replaced it since it was looked at: such a lock is restored, because
 * two processes with the lock would each make a key of the day, and the secrets under one of the keys would be unreadable.
 */
function removeStale(path: string, stale: Stats): void {
  const taken = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    renameSync(path, taken);
    const { ino, mtimeMs } = statSync(taken);
    if (ino !== stale.ino || mtimeMs !== stale.mtimeMs) linkSync(taken, path);
  } catch (error) {
    // Another process has removed the stale lock, or has created a lock of its own meanwhile.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
  } finally {
    rmSync(taken, { force: true });
  }
}
