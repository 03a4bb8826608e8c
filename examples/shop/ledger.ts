import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Decision } from './service.ts';

/** A recorded effect, with the answer to its call. */
export interface Recorded {
  readonly id: string;
  readonly answer: Answer;
  readonly undone: boolean;
  /** The answer to an undo that is not possible. */
  readonly undoRefusal: Answer | undefined;
}

export interface Effect {
  readonly idempotencyKey: string;
  readonly kind: string;
  readonly at: string;
  readonly undoneAt?: string;
}

/** The record of each service's answers and effects. Several processes may share one file. */
export interface Ledger {
  /** Returns the first answer under a key. */
  answered(path: string, idempotencyKey: string): Answer | undefined;
  /** Writes answer and effect together. Returns false if another process has used the key first; its answer counts. */
  add(service: string, path: string, idempotencyKey: string, decision: Decision): boolean;
  byKey(path: string, idempotencyKey: string): Recorded | undefined;
  byId(service: string, id: string): Recorded | undefined;
  /** Undoes an effect. A repetition changes nothing. */
  undo(service: string, id: string): void;
  effects(service: string, orderId: string): readonly Effect[];
  close(): void;
}

// Commits are not synced: they survive kill -9, and a power cut is out of scope for this shop.
const setup = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS entries (
    service TEXT NOT NULL, path TEXT NOT NULL, idempotencyKey TEXT NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL,
    id TEXT, orderId TEXT, kind TEXT, undoRefusal TEXT, at TEXT NOT NULL, undoneAt TEXT,
    UNIQUE (path, idempotencyKey)
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS entries_by_id ON entries (service, id) WHERE id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS entries_by_order ON entries (service, orderId) WHERE id IS NOT NULL;
`;

/** The longest time that this process waits while another process holds the write lock, which is far shorter. */
const busyMaxMs = 5_000;

export async function openLedger(path: string): Promise<Ledger> {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(path, { timeout: busyMaxMs });
  await prepare(database);

  const answered = database.prepare('SELECT status, body FROM entries WHERE path = ? AND idempotencyKey = ?');
  const add = database.prepare(
    'INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL) ON CONFLICT (path, idempotencyKey) DO NOTHING',
  );
  const byKey = database.prepare('SELECT * FROM entries WHERE path = ? AND idempotencyKey = ? AND id IS NOT NULL');
  const byId = database.prepare('SELECT * FROM entries WHERE service = ? AND id = ?');
  const undo = database.prepare('UPDATE entries SET undoneAt = ? WHERE service = ? AND id = ? AND undoneAt IS NULL');
  const effects = database.prepare(
    'SELECT idempotencyKey, kind, at, undoneAt FROM entries WHERE service = ? AND orderId = ? AND id IS NOT NULL ORDER BY rowid',
  );

  return {
    answered: (path, idempotencyKey) => answered.get(path, idempotencyKey) as Answer | undefined,
    add(service, path, idempotencyKey, { answer, effect }) {
      const { id = null, orderId = null, kind = null, undoRefusal } = effect ?? {};
      const refused = undoRefusal ? JSON.stringify(undoRefusal) : null;
      return add.run(service, path, idempotencyKey, answer.status, answer.body, id, orderId, kind, refused, now()).changes === 1;
    },
    byKey: (path, idempotencyKey) => recorded(byKey.get(path, idempotencyKey) as Row | undefined),
    byId: (service, id) => recorded(byId.get(service, id) as Row | undefined),
    undo: (service, id) => void undo.run(now(), service, id),
    effects: (service, orderId) =>
      (effects.all(service, orderId) as unknown as EffectRow[]).map(({ undoneAt, ...effect }) => ({
        ...effect,
        ...(undoneAt && { undoneAt }),
      })),
    close: () => database.close(),
  };
}

const triesMax = 100;

/** Retries while another process opens the same new file. SQLite rejects that at once, whatever the timeout. */
async function prepare(database: DatabaseSync): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return database.exec(setup);
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== sqliteBusy || tries === triesMax) throw error;
      await sleep(10);
    }
  }
}

const sqliteBusy = 5;

const now = (): string => new Date().toISOString();

type Row = { readonly id: string; readonly undoneAt: string | null; readonly undoRefusal: string | null } & Answer;
type EffectRow = Effect & { readonly undoneAt: string | null };

const recorded = (row: Row | undefined): Recorded | undefined =>
  row && {
    id: row.id,
    answer: { status: row.status, body: row.body },
    undone: row.undoneAt !== null,
    undoRefusal: row.undoRefusal === null ? undefined : (JSON.parse(row.undoRefusal) as Answer),
  };
