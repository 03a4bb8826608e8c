import { createHash, hash } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '#core/data/json';
import { collections, type Document, type Documents } from '#ports/documents';
import { dayMs, dayOf } from '#ports/util/days';
import { dayAfter, keptDays } from './days.ts';
import { type LogPorts, writeLine } from './log.ts';

/** The digest of a day: a hash over its entries and over the digest before. So a later change of an entry breaks the chain. */
export interface Digest {
  readonly day: string;
  /** The number of entries of the day. */
  readonly entries: number;
  readonly hash: string;
  /** The hash of the day before; null for the first digest. */
  readonly previous: string | null;
  readonly at: number;
}

/** An entry as a digest lists it: its id and its hash. */
export type DigestedEntry = readonly [id: string, hash: string];

interface Ports extends LogPorts {
  readonly store: Pick<Documents, 'documents' | 'listed' | 'putDocument'>;
}

/**
 * A digest is written this long after the end of its day, because an API call may still write an entry of that day. No call takes a tenth
 * of this time.
 */
const writtenAfterMs = 3_600_000;
/** The largest number of days whose digests one call of the function writes. */
const daysMax = 60;
/** Entries in one part of a digest: about 110 KB. */
const perPart = 1000;
/** Digests are kept a little longer than the entries of their day. */
const keptMs = (keptDays + 2) * dayMs;

/**
 * Creates the function that writes the digests of the days that are over since the last digest. If there is no digest yet, it begins with
 * the newest day that is over, if that day has entries. A digest is never changed: if two processes write the digest of one day, the second
 * one continues with the parts of the first. After the digest of the newest day, a process reads nothing until another day is over.
 */
export function createDigests(ports: Ports): () => Promise<void> {
  const { store, clock } = ports;
  let lookedFor = '';
  return async () => {
    const newestDay = dayOf(clock.now() - writtenAfterMs - dayMs);
    if (lookedFor === newestDay) return;
    let previous = await newestDigest(store);
    let day: string | undefined = previous ? dayAfter(previous.day) : await firstDay(store, newestDay);
    for (let days = 0; day !== undefined && day <= newestDay && days < daysMax; days++) {
      previous = await writeDigest(day, previous, ports);
      day = dayAfter(day);
    }
    lookedFor = day === undefined || day > newestDay ? newestDay : '';
  };
}

async function writeDigest(day: string, before: Digest | undefined, ports: Ports): Promise<Digest> {
  const { store, clock } = ports;
  const expiresAt = Date.parse(day) + keptMs;
  const parts: (readonly DigestedEntry[])[] = [];
  for (let part = 1, after: string | undefined; part === parts.length + 1; part++) {
    const entries = await entriesOf(store, day, after);
    if (entries.length === 0) break;
    const document = { collection: collections.auditDigestParts(day), id: String(part).padStart(4, '0'), rev: 1, expiresAt };
    const write = await store.putDocument({ ...document, content: { entries } as unknown as JsonObject }, 0);
    const stored = write.outcome === 'refused' && write.current ? entriesIn(write.current) : entries;
    parts.push(stored);
    after = stored.at(-1)?.[0];
    if (stored.length < perPart) break;
  }
  const previous = before?.hash ?? null;
  const entries = parts.reduce((count, part) => count + part.length, 0);
  const digest: Digest = { day, entries, hash: digestHash(day, previous, parts), previous, at: clock.now() };
  const document = { collection: collections.auditDigests, id: day, rev: 1, content: { ...digest } as unknown as JsonObject, expiresAt };
  const write = await store.putDocument(document, 0);
  if (write.outcome === 'refused') return write.current ? digestIn(write.current) : digest;
  await writeLine(ports, 'audit digest written', { day, entries, hash: digest.hash });
  return digest;
}

/** Returns the entries of one part. */
async function entriesOf(store: Pick<Documents, 'documents'>, day: string, after: string | undefined): Promise<readonly DigestedEntry[]> {
  const found = await store.documents(collections.audit(day), after, perPart);
  return found.map(({ id, content }) => [id, entryHash(content)] as const);
}

/**
 * Returns the day with which the digests begin: the newest day that is over, if it has an entry. A system without entries has no digests.
 */
async function firstDay(store: Pick<Documents, 'documents'>, newestDay: string): Promise<string | undefined> {
  return (await store.documents(collections.audit(newestDay), undefined, 1)).length > 0 ? newestDay : undefined;
}

async function newestDigest(store: Pick<Documents, 'listed'>): Promise<Digest | undefined> {
  const { items } = await store.listed({ list: { index: 'collection', name: collections.auditDigests }, order: 'descending', limit: 1 });
  return items[0] && digestIn(items[0]);
}

/** Returns the hash of an entry's content. The order of its fields does not matter. */
export const entryHash = (content: Json): string => hash('sha256', JSON.stringify(content, sorted), 'base64url');

const sorted = (_: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value;

export function digestHash(day: string, previous: string | null, parts: readonly (readonly DigestedEntry[])[]): string {
  const hash = createHash('sha256').update(JSON.stringify([day, previous]));
  for (const part of parts) for (const entry of part) hash.update(JSON.stringify(entry));
  return hash.digest('base64url');
}

export const digestIn = ({ content }: Document): Digest => content as unknown as Digest;

export const entriesIn = ({ content }: Document): readonly DigestedEntry[] => content['entries'] as unknown as readonly DigestedEntry[];
