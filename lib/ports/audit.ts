import type { Json, JsonObject } from '#core/data/json';
import type { Document } from './documents.ts';

export const auditKinds = [
  'instruction',
  'channel',
  'dead-letter',
  'client',
  'rule',
  'solution',
  'lock',
  'bulk',
  'task',
  'group',
  'read',
] as const;
/** The roles of people, the one with the most rights first. */
export const auditedRoles = ['admin', 'operator', 'viewer'] as const;

export type AuditKind = (typeof auditKinds)[number];

/** The record of one action of a person. It never changes. */
export interface AuditEntry {
  readonly id: string;
  readonly at: number;
  /** The `sub` of the person's token. */
  readonly by: string;
  readonly role: (typeof auditedRoles)[number];
  readonly kind: AuditKind;
  /**
   * The id or the name of the thing that was changed or read. A dead letter is `<channel>/<id>`, and a group of exceptions is their
   * fingerprint.
   */
  readonly target: string;
  /** The action of the person. For a dead letter, `<action>-refused` follows an entry whose action was refused after all. */
  readonly action: string;
  readonly reason: string | null;
  /** The values that the action changes, without secrets. Null: there was nothing, or the action is not a change of values. */
  readonly before: Json;
  readonly after: Json;
  /** The id of the API call, as in the log. */
  readonly requestId: string;
}

export interface AuditFilter {
  readonly by?: string;
  readonly kind?: AuditKind;
  readonly target?: string;
  /** Milliseconds since 1970, inclusive. */
  readonly since?: number;
}

/** A position in the audit, newest first. */
export interface AuditPosition {
  /** A UTC day: `2026-01-31`. */
  readonly day: string;
  /** The last entry of the previous page; absent at the beginning of the day. */
  readonly after?: string;
}

export interface AuditPage {
  readonly items: readonly AuditEntry[];
  /** Position of the next page; absent at the end. A page may hold fewer entries than `limit`, even none, and not be the last. */
  readonly next?: AuditPosition;
}

/**
 * A difference between the audit of a day and its digest: something changed after the day was over. `entry` is null if the digest itself
 * has changed.
 */
export interface AuditMisfit {
  readonly entry: string | null;
  readonly problem: (typeof auditProblems)[number];
}

export const auditProblems = ['changed', 'removed', 'added', 'digest-changed', 'digest-before-removed'] as const;

/** A day compared with its digest. */
export interface VerifiedDay {
  readonly day: string;
  /** The number of entries of the day. */
  readonly entries: number;
  readonly hash: string;
  readonly at: number;
  /** The earliest first. */
  readonly misfits: readonly AuditMisfit[];
}

export interface VerifiedDays {
  readonly items: readonly VerifiedDay[];
  /** The day after which the next page begins; absent at the end. */
  readonly next?: string;
}

/** An entry before its id and its time are known. */
export type AuditDraft = Omit<AuditEntry, 'id' | 'at'>;

/** An entry that is written in the transaction of the change that it records: neither exists without the other. */
export interface PreparedEntry {
  /** The documents of the entry, for that transaction. */
  readonly documents: readonly Document[];
  /** Writes the entry's line of the log. Called after the transaction. */
  stored(): Promise<void>;
}

/** A log for the audit alone, in addition to its documents. */
export interface AuditLog {
  /** Writes a line. Rejects when the log is unavailable. */
  append(line: JsonObject, at: number): Promise<void>;
}

/** Records what people do, append-only. */
export interface Audit {
  prepare(entry: AuditDraft): PreparedEntry;
  /** Writes an entry for a read, unless one of the same person and target exists for this quarter of an hour. */
  recordRead(entry: AuditDraft): Promise<void>;
  /** Compares at most `limit` days with their digests, the oldest first, after the day `after`. */
  verifiedDays(after: string | undefined, limit: number): Promise<VerifiedDays>;
  /** Returns at most `limit` entries, newest first. */
  page(filter: AuditFilter, from: AuditPosition | undefined, limit: number): Promise<AuditPage>;
}
