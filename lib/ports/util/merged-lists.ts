import type { Document, Documents } from '#ports/documents';
import { lookedMax } from '#ports/list-filters';
import type { List } from '#ports/lists';
import { allSettledOrThrow } from './all-settled.ts';

/** Part of several lists of one index, read side by side as one list. */
export interface MergedRead<T> {
  readonly lists: readonly List[];
  readonly order: 'ascending' | 'descending';
  /** Sort keys, both inclusive. */
  readonly from?: string;
  readonly to?: string;
  /** Returns the item of the page for a document; undefined if a filter leaves the document out. */
  readonly pick: (document: Document) => T | undefined;
}

/** A page that is being filled, from one list or from several after one another. */
export interface FilledPage<T> {
  readonly limit: number;
  readonly items: T[];
  looked: number;
  /** The sort key of the last document that was examined. */
  last: string | undefined;
}

export const emptyPage = <T>(limit: number, after: string | undefined): FilledPage<T> => ({ limit, items: [], looked: 0, last: after });

/**
 * Fills the page with documents after its last sort key. Resolves to `full` if the page is full or `lookedMax` documents were examined, and
 * to `end` if the lists have no more.
 */
export async function fillPage<T>(store: Pick<Documents, 'listed'>, read: MergedRead<T>, page: FilledPage<T>): Promise<'full' | 'end'> {
  const { lists, order, from, to, pick } = read;
  const isBefore = (one: string, other: string): boolean => (order === 'ascending' ? one < other : one > other);
  const nearest = (sorts: readonly string[]): string | undefined =>
    sorts.reduce<string | undefined>((best, sort) => (best === undefined || isBefore(sort, best) ? sort : best), undefined);
  for (;;) {
    const bounds = {
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      ...(page.last === undefined ? {} : { after: page.last }),
    };
    const pages = await allSettledOrThrow(lists.map((list) => store.listed({ list, order, limit: readAtOnce, ...bounds })));
    // Entries beyond the end of the shortest page wait: the list of that page may have further entries that come before them.
    const known = nearest(pages.flatMap(({ next }) => next ?? []));
    const entries = pages
      .flatMap(({ items }, index) => items.map((document) => ({ sort: sortIn(document, lists[index]), document })))
      .filter(({ sort }) => known === undefined || !isBefore(known, sort))
      .toSorted((one, other) => (isBefore(one.sort, other.sort) ? -1 : 1));
    for (const { sort, document } of entries) {
      page.looked++;
      page.last = sort;
      const item = pick(document);
      if (item !== undefined) page.items.push(item);
      if (page.items.length >= page.limit || page.looked >= lookedMax) return 'full';
    }
    if (known === undefined) return 'end';
    if (page.last === undefined || isBefore(page.last, known)) page.last = known;
  }
}

const readAtOnce = 50;

/** Returns the sort key of a document in a list. */
function sortIn({ listA, listB, listC }: Document, list: List | undefined): string {
  const entry = { A: listA, B: listB, C: listC }[list?.index ?? 'A'];
  return String(entry?.sort);
}
