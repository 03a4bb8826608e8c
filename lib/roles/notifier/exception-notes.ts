import type { JsonObject } from '#core/data/json';
import type { ExceptionNote } from '#core/notifications/people-group';
import { collections, type Document, type Documents } from '#ports/documents';
import { compareAndSet } from '#ports/util/compare-and-set';

/** A change of a note. Null removes a field, and an absent one stays. */
export interface NoteChange {
  readonly mutedUntil?: number | null | undefined;
  readonly note?: string | null | undefined;
  readonly ticket?: string | null | undefined;
}

type Store = Pick<Documents, 'document' | 'putDocument'>;

export async function exceptionNote(store: Pick<Documents, 'document'>, fingerprint: string): Promise<ExceptionNote | undefined> {
  const document = await store.document(collections.exceptionNotes, fingerprint);
  return document && noteIn(document);
}

/** Returns all notes by their fingerprint, as many as one read returns. */
export async function exceptionNotes(store: Pick<Documents, 'documents'>): Promise<ReadonlyMap<string, ExceptionNote>> {
  const documents = await store.documents(collections.exceptionNotes, undefined, notesMax);
  return new Map(documents.map((document) => [document.id, noteIn(document)]));
}

/** A list shows at most this many notes. */
const notesMax = 1000;

/** Changes what people have noted about alike exceptions. `beside`: new documents of the same transaction. */
export async function changeNote(
  store: Store,
  fingerprint: string,
  change: NoteChange,
  {
    by,
    at,
    beside,
  }: {
    readonly by: string;
    readonly at: number;
    readonly beside: (before: ExceptionNote | undefined, after: ExceptionNote) => readonly Document[];
  },
): Promise<ExceptionNote> {
  const result = await compareAndSet(async () => {
    const before = await exceptionNote(store, fingerprint);
    const rev = before?.rev ?? 0;
    const kept = Object.entries({ ...before, ...given(change), fingerprint, rev: rev + 1, by, at }).filter(([, value]) => value !== null);
    const after = Object.fromEntries(kept) as unknown as ExceptionNote;
    const document = { collection: collections.exceptionNotes, id: fingerprint, rev: after.rev, content: after as unknown as JsonObject };
    const { outcome } = await store.putDocument(document, rev, beside(before, after));
    return outcome === 'written' ? after : 'lost';
  });
  if (result === 'lost') throw new Error(`The notes about ${fingerprint} change too often. Try again.`);
  return result;
}

const given = (change: NoteChange) => Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));

const noteIn = ({ content, rev }: Document): ExceptionNote => ({ ...(content as unknown as ExceptionNote), rev });
