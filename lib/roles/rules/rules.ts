import type { Json, JsonObject } from '#core/data/json';
import type { RuleProblem } from '#core/rules/check-rule';
import type { Rule } from '#core/rules/rule';
import { setProblems } from '#core/rules/rule-limits';
import { compileRules, type RuleSet } from '#core/rules/rule-set';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { collections, type Document, type Documents } from '#ports/documents';
import { compareAndSet } from '#ports/util/compare-and-set';
import { emptyBook, mergedRules, type RuleBook, readBook, type StoredBook, writeBook } from './rule-book.ts';

interface Ports {
  readonly store: Documents;
  readonly clock: Clock;
  readonly definitions: Pick<Definitions, 'rules' | 'workflows' | 'catalog'>;
}

/** The author of a change, and the documents that are part of its transaction, such as its audit entry. */
export interface RuleChange {
  readonly by: string;
  readonly reason: string;
  /** The version that the author has read; undefined for a new rule. */
  readonly expected: number | undefined;
  readonly beside?: (before: Json, after: Json) => readonly Document[];
}

export type RuleWrite =
  | { readonly outcome: 'written'; readonly rule: Rule; readonly isNew: boolean }
  /** The rule has another version, or exists although its author expected none. */
  | { readonly outcome: 'stale'; readonly current: Rule | undefined }
  | { readonly outcome: 'too-many'; readonly problems: readonly RuleProblem[] };

/** One version of a rule. `rule` is null where the rule was deleted. */
export interface RuleVersion {
  readonly version: number;
  /** Milliseconds since 1970; null for the version that the app declares. */
  readonly at: number | null;
  readonly by: string | null;
  readonly reason: string | null;
  readonly rule: Rule | null;
}

export interface Rules {
  /** Returns the rules to decide by. It reads the store at most every five seconds, so a change takes effect within ten. */
  current(): Promise<RuleSet>;
  /** Returns all rules as they are now, by id. */
  list(): Promise<readonly Rule[]>;
  rule(id: string): Promise<Rule | undefined>;
  put(rule: Omit<Rule, 'version'>, change: RuleChange): Promise<RuleWrite>;
  /** Deletes a rule of people. `undefined`: there is none. */
  remove(id: string, change: RuleChange): Promise<RuleWrite | undefined>;
  /** Returns at most `limit` versions, newest first, below the version `before`. */
  versions(id: string, before: number | undefined, limit: number): Promise<readonly RuleVersion[]>;
}

/** The longest time for which a process uses the rules that it has read. */
const knownMs = 5000;

/** Creates the access to the rules of an app and of people. */
export function createRules({ store, clock, definitions }: Ports): Rules {
  let known: { readonly at: number; readonly stored: StoredBook; readonly set: RuleSet } | undefined;
  let reading: Promise<RuleSet> | undefined;

  const remember = (stored: StoredBook, at: number): RuleSet => {
    const isSame = known?.stored.hash === stored.hash;
    const set = known && isSame ? known.set : compileRules(mergedRules(definitions.rules, stored.book), definitions);
    known = { at, stored, set };
    return set;
  };

  /** Whether the rules need not be read again. A process may have stood still, and its clock may have been set back. */
  const isFresh = (): boolean => known !== undefined && Math.abs(clock.now() - known.at) < knownMs;

  async function read(): Promise<StoredBook> {
    const at = clock.now();
    const stored = await readBook(store, known?.stored ?? emptyBook);
    remember(stored, at);
    return stored;
  }

  const all = async (): Promise<readonly Rule[]> => mergedRules(definitions.rules, (await read()).book);

  async function write(id: string, change: RuleChange, next: (before: Rule | undefined, version: number) => Next): Promise<RuleWrite> {
    const written = await compareAndSet<RuleWrite>(async () => {
      const stored = await read();
      const before = mergedRules(definitions.rules, stored.book).find((rule) => rule.id === id);
      if (change.expected !== before?.version) return { outcome: 'stale', current: before };
      const version = (before?.version ?? (await lastVersion(store, id))) + 1;
      const { book, rule } = next(before, version)(stored.book);
      const problems = setProblems(mergedRules(definitions.rules, book));
      if (rule && rule.mode !== 'off' && problems.length > 0) return { outcome: 'too-many', problems };
      const { by, reason } = change;
      const entry = { version, at: clock.now(), by, reason, rule };
      const beside = change.beside?.(asJson(before), asJson(rule)) ?? [];
      const result = await writeBook(store, stored, book, { beside: [versionDocument(id, entry), ...beside], now: clock.now() });
      if (result === 'lost') return 'lost';
      remember(result, clock.now());
      return { outcome: 'written', rule: rule ?? (before as Rule), isNew: before === undefined };
    });
    if (written === 'lost') throw new Error('Too many concurrent writes of the rules. Try again.');
    return written;
  }

  return {
    async current() {
      if (known && isFresh()) return known.set;
      reading ??= read()
        .then((stored) => remember(stored, clock.now()))
        .finally(() => {
          reading = undefined;
        });
      return reading;
    },
    list: all,
    rule: async (id) => (await all()).find((rule) => rule.id === id),
    put: (draft, change) =>
      write(draft.id, change, (_, version) => (book) => {
        const rule = { ...draft, version };
        if (draft.origin === 'people') return { rule, book: { ...book, rules: [...book.rules.filter(({ id }) => id !== rule.id), rule] } };
        const changes = (book.modes[rule.id]?.changes ?? 0) + 1;
        return { rule, book: { ...book, modes: { ...book.modes, [rule.id]: { mode: rule.mode, changes } } } };
      }),
    async remove(id, change) {
      if (!(await read()).book.rules.some((rule) => rule.id === id)) return undefined;
      return write(id, change, () => (book) => ({ rule: null, book: { ...book, rules: book.rules.filter((rule) => rule.id !== id) } }));
    },
    versions: (id, before, limit) => versionsOf({ store, definitions }, id, { before, limit }),
  };
}

async function versionsOf(
  { store, definitions }: Pick<Ports, 'store' | 'definitions'>,
  id: string,
  { before, limit }: { readonly before: number | undefined; readonly limit: number },
): Promise<readonly RuleVersion[]> {
  const after = before === undefined ? undefined : idOfVersion(before);
  const found = await store.documents(collections.rule(id), after, limit);
  const stored = found.map(({ content }) => content as unknown as RuleVersion);
  const declared = definitions.rules.find((rule) => rule.id === id);
  const isShown = declared && stored.length < limit && (before ?? Number.POSITIVE_INFINITY) > declared.version;
  return isShown ? [...stored, { version: declared.version, at: null, by: null, reason: null, rule: declared }] : stored;
}

type Next = (book: RuleBook) => { readonly book: RuleBook; readonly rule: Rule | null };

const asJson = (rule: Rule | null | undefined): Json => (rule ? (JSON.parse(JSON.stringify(rule)) as Json) : null);

const versionsMax = 10 ** 9;
/** The store lists documents by their ids, so the newest version has the smallest id. */
const idOfVersion = (version: number): string => String(versionsMax - version).padStart(9, '0');

const versionDocument = (id: string, entry: RuleVersion): Document => ({
  collection: collections.rule(id),
  id: idOfVersion(entry.version),
  rev: 1,
  content: JSON.parse(JSON.stringify(entry)) as JsonObject,
});

/**
 * Returns the number of the last version of a rule that does not exist now. If the rule is written again, its versions continue after that
 * number.
 */
async function lastVersion(store: Documents, id: string): Promise<number> {
  const [last] = await store.documents(collections.rule(id), undefined, 1);
  return Number(last?.content['version'] ?? 0);
}
