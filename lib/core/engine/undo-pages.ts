import { runsAgain } from '#core/activities/index';
import { undoPathOf } from '#core/data/ids';
import { isObject } from '#core/data/json';
import type { ActivityState, PagedUndo, State, UndoEntry, UndoPage } from '#core/data/state';
import { nodeAt, type Program, parentOf } from '#core/definition/program';

/** Pages of the undo list by number. */
export type UndoPages = ReadonlyMap<number, UndoPage>;

/** The entries that one activity undoes: the work inside a scope, without that of the handler which undoes it. */
export interface Reach {
  readonly scope: string;
  /** The handler that undoes the scope, if it is inside the scope. */
  readonly own?: string | undefined;
}

/**
 * Returns the path of the scope that an activity undoes: the `scope` in its local state, for the verb `undoNext`.
 * Undefined if it undoes none.
 */
export function undoneScope(activity: ActivityState | undefined): string | undefined {
  const scope = isObject(activity?.local) ? activity.local['scope'] : undefined;
  return typeof scope === 'string' ? scope : undefined;
}

export const isWithin = (path: string, scope: string): boolean => path.startsWith(`${scope}/`) || path.startsWith(`${scope}[`);
export const isAt = (path: string, around: string): boolean => path === around || isWithin(path, around);
export const reaches = ({ scope, own }: Reach, { path }: UndoEntry): boolean => isAt(path, scope) && !(own && isAt(path, own));

/**
 * Limits in characters. A store bills each write by the size of the state, so only a list of at most `keptMax` stays there as a whole.
 * `pageMax`: the size of a page, which with its key is an item of one kilobyte.
 */
const sizes = { keptMax: 1024, pageMax: 900 } as const;
type Sizes = { readonly [size in keyof typeof sizes]: number };

/**
 * Returns the entries that leave the state with the next write, and the state without them. `before`, the loaded state,
 * alone selects the entries: a host that loses the race for this write selects the same ones. Undefined if there are
 * none, or if `after` has changed the pages or one of these entries, or still needs one of them.
 */
export function pageOut(
  program: Program,
  before: State,
  after: State,
  number: number,
  { keptMax, pageMax }: Sizes = sizes,
): { readonly page: UndoPage; readonly state: State } | undefined {
  const entries = oldestOf(program, before, { keptMax, pageMax });
  const { undo = [], pagedUndo: older } = after;
  const isSame = older === before.pagedUndo && entries.every((entry, index) => undo[index] === entry && !isNeeded(program, after, entry));
  if (entries.length === 0 || !isSame) return undefined;
  const paged = { ...older, top: number, entries: (older?.entries ?? 0) + entries.length };
  return {
    page: { entries, ...(older ? { below: older.top } : {}) },
    state: { ...after, undo: undo.slice(entries.length), pagedUndo: paged },
  };
}

/** Returns the oldest entries, without a gap: every entry in a page is older than every entry outside. */
function oldestOf(program: Program, state: State, { keptMax, pageMax }: Sizes): readonly UndoEntry[] {
  const { undo = [] } = state;
  if (undo.length === 0 || JSON.stringify(undo).length <= keptMax) return [];
  const needed = undo.findIndex((entry) => isNeeded(program, state, entry));
  let length = 0;
  const beyond = undo.findIndex((entry) => (length += JSON.stringify(entry).length + 1) > pageMax);
  return undo.slice(0, Math.min(needed < 0 ? undo.length : needed, beyond < 0 ? undo.length : Math.max(1, beyond)));
}

/**
 * Whether an entry must stay in the state. It stays if its step or its undo is open, if it was paged in, or if an enclosing activity may
 * run again or be undone as a whole.
 */
function isNeeded(program: Program, { activities }: State, { path, from }: UndoEntry): boolean {
  if (from !== undefined || activities[path] || activities[undoPathOf(path)]) return true;
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) {
    const node = activities[at] && nodeAt(program, at);
    if (node && (runsAgain(node) || node.undo)) return true;
  }
  return false;
}

/**
 * The result of a search for paged-out entries: the state with those of one page, or a state without further ones (`hasEntries: false`).
 * `needs` is a page that must be loaded first.
 */
export type Found = { readonly state: State; readonly hasEntries: boolean } | { readonly needs: number };

/** Pages in the newest entries in reach. Searches from the newest page down to `floor`, which holds none of them. */
export function pageIn(state: State, reach: Reach, floor: number, pages: UndoPages): Found {
  let { pagedUndo: paged } = state;
  const to = paged?.top ?? 0;
  for (let at = to; paged && at > floor; ) {
    const seen = paged.searched?.find((each) => isSame(each, reach) && covers(each, at));
    if (seen) {
      at = seen.next;
      continue;
    }
    const page = pages.get(at);
    if (!page) return { needs: at };
    const { below = 0 } = page;
    const { searched = [] }: PagedUndo = paged;
    const left = page.entries.filter((entry) => !searched.some((each) => covers(each, at) && reaches(each, entry)));
    const mine = left.filter((entry) => reaches(reach, entry));
    const entries = paged.entries - mine.length;
    if (mine.length === left.length && at === paged.top) paged = lowered({ ...paged, entries }, below);
    else if (mine.length > 0)
      paged = { ...paged, entries, searched: [...searched.filter((each) => !isSame(each, reach)), searchedOf(reach, to, below)] };
    if (mine.length > 0) return { state: withEntries(withPagedUndo(state, paged), mine, { page, at }), hasEntries: true };
    at = below;
  }
  return { state: withPagedUndo(state, paged), hasEntries: false };
}

type Searched = NonNullable<PagedUndo['searched']>[number];

const isSame = (one: Reach, other: Reach): boolean => one.scope === other.scope && one.own === other.own;
const covers = ({ to, next }: Searched, at: number): boolean => at <= to && at > next;

const searchedOf = ({ scope, own }: Reach, to: number, next: number): Searched => ({
  scope,
  ...(own === undefined ? {} : { own }),
  to,
  next,
});

/** Drops the newest page, which is empty, and the searched ranges that cover it alone. */
function lowered({ searched, ...rest }: PagedUndo, below: number): PagedUndo | undefined {
  if (below === 0) return undefined;
  const left = searched?.filter(({ next }) => next < below) ?? [];
  return { ...rest, top: below, ...(left.length > 0 ? { searched: left } : {}) };
}

function withPagedUndo(state: State, paged: PagedUndo | undefined): State {
  const { pagedUndo: current, ...rest } = state;
  if (paged === current) return state;
  return paged ? { ...rest, pagedUndo: paged } : rest;
}

/** Inserts entries at the place that they had before they were paged out. Scopes that are undone at the same time may need different pages. */
function withEntries(state: State, mine: readonly UndoEntry[], { page, at }: { readonly page: UndoPage; readonly at: number }): State {
  const { undo = [] } = state;
  const isOlder = ({ from = Number.POSITIVE_INFINITY }: UndoEntry): boolean => from < at;
  const place = new Map(page.entries.map(({ path }, index) => [path, index]));
  const placeOf = ({ path }: UndoEntry): number => place.get(path) ?? 0;
  const ofPage = [...undo.filter(({ from }) => from === at), ...mine.map((entry) => ({ ...entry, from: at }))];
  const newer = undo.filter((entry) => !isOlder(entry) && entry.from !== at);
  return { ...state, undo: [...undo.filter(isOlder), ...ofPage.toSorted((a, b) => placeOf(a) - placeOf(b)), ...newer] };
}
