import { hash } from 'node:crypto';
import { isObject, type JsonObject } from '#core/data/json';
import type { Rule, RuleMode } from '#core/rules/rule';
import { collections, type Document, type Documents } from '#ports/documents';
import { allSettledOrThrow } from '#ports/util/all-settled';

/** The mode that people gave a rule of the app, with the number of such changes. */
export interface ModeChange {
  readonly mode: RuleMode;
  readonly changes: number;
}

/** The rules of people, and the modes that people gave the app's rules. */
export interface RuleBook {
  readonly rules: readonly Rule[];
  readonly modes: { readonly [id: string]: ModeChange };
}

/** A book as it is stored. */
export interface StoredBook {
  readonly book: RuleBook;
  /** The number of the book, which rises with each change. */
  readonly generation: number;
  readonly hash: string;
}

const current = 'CURRENT';
/** The largest number of characters in one part of a book. A character takes at most three bytes, so a part has less than 350 KB. */
const partCharacters = 110_000;
const partsMax = 100;

/** A superseded book stays for this long, because processes may have just read the pointer to it. */
const supersededMs = 86_400_000;

export const emptyBook: StoredBook = { book: { rules: [], modes: {} }, generation: 0, hash: '' };

type Reads = Pick<Documents, 'document' | 'documents'>;

/** Reads the pointer to the book, and the book itself if that is not the one in `known`. */
export async function readBook(store: Reads, known: StoredBook = emptyBook, triesLeft = 3): Promise<StoredBook> {
  const pointer = await store.document(collections.rules, current);
  if (!pointer) return emptyBook;
  const found = String(pointer.content['hash']);
  if (found === known.hash) return { ...known, generation: pointer.rev };
  const parts = await store.documents(collections.ruleSet(found), undefined, partsMax);
  const text = parts.map(({ content }) => String(content['text'])).join('');
  // Parts are missing: they were removed after the pointer had moved to a newer book. The next try reads the newer book.
  if (hashOf(text) !== found && triesLeft > 0) return readBook(store, emptyBook, triesLeft - 1);
  if (hashOf(text) !== found)
    throw new Error(`The rules of generation ${pointer.rev} are incomplete in the store. Restore the table, or write the rules again.`);
  return { book: bookIn(JSON.parse(text)), generation: pointer.rev, hash: found };
}

/** Writes a book in place of the one that was read, together with `beside`. Returns `lost` if another change came first. */
export async function writeBook(
  store: Documents,
  before: StoredBook,
  book: RuleBook,
  { beside, now }: { readonly beside: readonly Document[]; readonly now: number },
): Promise<StoredBook | 'lost'> {
  const text = JSON.stringify(book);
  const next = { book, generation: before.generation + 1, hash: hashOf(text) };
  await allSettledOrThrow(partsOf(next.hash, text).map((part) => store.putDocument(part, 0)));
  const content: JsonObject = { generation: next.generation, hash: next.hash };
  const pointer = { collection: collections.rules, id: current, rev: next.generation, content };
  const { outcome } = await store.putDocument(pointer, before.generation, beside);
  if (outcome === 'refused') return 'lost';
  await expire(store, before.hash, now + supersededMs);
  return next;
}

async function expire(store: Documents, hash: string, expiresAt: number): Promise<void> {
  if (hash === '') return;
  const parts = await store.documents(collections.ruleSet(hash), undefined, partsMax);
  await allSettledOrThrow(parts.map((part) => store.putDocument({ ...part, rev: part.rev + 1, expiresAt }, part.rev)));
}

const partsOf = (name: string, text: string): readonly Document[] =>
  Array.from({ length: Math.ceil(text.length / partCharacters) }, (_, index) => ({
    collection: collections.ruleSet(name),
    id: String(index).padStart(3, '0'),
    rev: 1,
    content: { text: text.slice(index * partCharacters, (index + 1) * partCharacters) },
  }));

const hashOf = (text: string): string => hash('sha256', text, 'base64url');

const bookIn = (value: unknown): RuleBook => (isObject(value) ? (value as unknown as RuleBook) : emptyBook.book);

/** Returns the app's rules, with the modes that people gave them, and the rules of people, by id. */
export function mergedRules(appRules: readonly Rule[], { rules, modes }: RuleBook): readonly Rule[] {
  const ofApp = appRules.map((rule) => {
    const change = modes[rule.id];
    return change ? { ...rule, mode: change.mode, version: rule.version + change.changes } : rule;
  });
  const ids = new Set(ofApp.map(({ id }) => id));
  // If the app has come to declare a rule with the id of a person's rule, the rule of the app counts.
  return [...ofApp, ...rules.filter(({ id }) => !ids.has(id))].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
