import { hash, randomUUID } from 'node:crypto';
import type { JsonObject } from '#core/data/json';
import type { Audit, AuditEntry, AuditFilter, AuditPage, AuditPosition } from '#ports/audit';
import { collections, type Document, type Documents } from '#ports/documents';
import { auditList, lookedMax, servedBy } from '#ports/list-filters';
import { type ListRead, lists } from '#ports/lists';
import { timeText } from '#ports/messages';
import { dayMs, dayOf } from '#ports/util/days';
import { dayAfter, keptDays } from './days.ts';
import { type LogPorts, writeLine } from './log.ts';
import { verifiedDays } from './verify.ts';

interface Ports extends LogPorts {
  readonly store: Documents;
}

const quarterMs = 900_000;
/** The largest number of days that are read for one page of entries. A day without entries costs one read, too. */
const daysMax = 60;
const readAtOnce = 100;
/** A process remembers at most this many reads of people that are in the audit, so that a polling console costs no writes. */
const knownReadsMax = 2000;

/** Creates the audit in documents of the store. Each entry is also a line of the log, at every log level. */
export function createAudit({ store, ...ports }: Ports): Audit {
  const { clock } = ports;
  const knownReads = new Set<string>();
  /** Number of entries that this process has prepared. It sorts the entries of one millisecond. */
  let prepared = 0;

  const log = ({ at, ...entry }: AuditEntry): Promise<void> =>
    writeLine(ports, 'audit entry written', { requestId: entry.requestId, entry: { ...entry, at: timeText(at) } });

  /** Writes an entry unless it exists. */
  async function write(entry: AuditEntry): Promise<void> {
    const { outcome } = await store.putDocument(documentOf(entry), 0);
    if (outcome === 'written') await log(entry);
  }

  /** Returns when a person's read was first recorded in its quarter of an hour. Concurrent processes get the same answer. */
  async function firstReadAt(read: string, now: number): Promise<number> {
    const collection = collections.auditedReads(dayOf(now));
    const marker = { collection, id: read, rev: 1, content: { at: now }, expiresAt: now + dayMs };
    const marked = await store.putDocument(marker, 0);
    return marked.outcome === 'refused' && marked.current ? Number(marked.current.content['at']) : now;
  }

  return {
    prepare(draft) {
      const at = clock.now();
      prepared++;
      const entry = { ...draft, at, id: idOf(at, `${descending(prepared, 8)}-${randomUUID()}`) };
      return { documents: [documentOf(entry)], stored: () => log(entry) };
    },

    async recordRead(draft) {
      const now = clock.now();
      const read = hash('sha256', JSON.stringify([draft.by, draft.target, Math.floor(now / quarterMs)]));
      if (knownReads.has(read)) return;
      // The marker alone proves nothing: its process may have crashed before it wrote the entry.
      const at = await firstReadAt(read, now);
      await write({ ...draft, at, id: idOf(at, read) });
      const [oldest] = knownReads;
      if (knownReads.size >= knownReadsMax && oldest !== undefined) knownReads.delete(oldest);
      knownReads.add(read);
    },

    verifiedDays: (after, limit) => verifiedDays(store, after, { limit, now: clock.now() }),
    page: (filter, from, limit) => pageOf(store, filter, { from, limit, now: clock.now() }),
  };
}

interface Extent {
  readonly from: AuditPosition | undefined;
  readonly limit: number;
  readonly now: number;
}

async function pageOf(store: Documents, filter: AuditFilter, { from, limit, now }: Extent): Promise<AuditPage> {
  const until = dayOf(Math.max(filter.since ?? 0, now - keptDays * dayMs));
  const items: AuditEntry[] = [];
  // The clock of another process may be ahead by a few seconds, so that its entries are on the next day.
  let position: AuditPosition = from ?? { day: dayOf(now + dayMs) };
  for (let looked = 0, days = 0; position.day >= until; ) {
    if (looked >= lookedMax || days >= daysMax || items.length >= limit) return { items, next: position };
    const { day, after } = position;
    const read = { list: listFor(filter, day), order: 'ascending', limit: readAtOnce, ...(after === undefined ? {} : { after }) } as const;
    const page = await store.listed(read);
    for (const document of page.items) {
      if (items.length >= limit) return { items, next: position };
      position = { day, after: document.id };
      const entry = entryIn(document);
      // The list of one person is not divided by days. Its entries are newest first, so all further ones are older than `since`, too.
      if (entry.at < (filter.since ?? 0)) return { items };
      if (fits(entry, filter)) items.push(entry);
    }
    looked += page.items.length;
    if (page.next !== undefined) position = { day, after: page.next };
    else if (filter.by !== undefined) break;
    else {
      position = { day: dayAfter(day, -1) };
      days++;
    }
  }
  return { items };
}

const listFor = (filter: AuditFilter, day: string): ListRead['list'] => {
  const { by = '', kind = '' } = filter;
  const { index } = servedBy(auditList, { ...filter });
  if (index === 'byPerson') return lists.auditOf(by);
  return index === 'byKind' ? lists.auditOfKind(kind, day) : { index: 'collection', name: collections.audit(day) };
};

const fits = (entry: AuditEntry, { by, kind, target }: AuditFilter): boolean =>
  (by === undefined || entry.by === by) && (kind === undefined || entry.kind === kind) && (target === undefined || entry.target === target);

function documentOf(entry: AuditEntry): Document {
  const { at, id } = entry;
  const content = JSON.parse(JSON.stringify(entry)) as JsonObject;
  return {
    collection: collections.audit(dayOf(at)),
    id,
    rev: 1,
    content,
    expiresAt: at + keptDays * dayMs,
    listA: { list: lists.auditOf(entry.by), sort: id },
    listB: { list: lists.auditOfKind(entry.kind, dayOf(at)), sort: id },
  };
}

const entryIn = ({ content }: Document): AuditEntry => content as unknown as AuditEntry;

/** Returns an id that is the smaller the newer its entry is: a store returns documents in ascending order of their ids. */
const idOf = (at: number, unique: string): string => `${descending(at, 13)}-${unique}`;
const descending = (value: number, digits: number): string => String(10 ** digits - 1 - value).padStart(digits, '0');
