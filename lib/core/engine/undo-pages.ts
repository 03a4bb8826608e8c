import { runsAgain } from '#core/activities/index';
import type { State, UndoAside, UndoEntry, UndoPage } from '#core/data/state';
import { nodeAt, type Program, parentOf } from '#core/definition/program';

/** By its number. */
export type UndoPages = ReadonlyMap<number, UndoPage>;

/** What somebody undoes: the work inside a scope, but not that of the handler which undoes it. */
export interface Reach {
  readonly scope: string;
  readonly own?: string | undefined;
}

export const isWithin = (path: string, scope: string): boolean => path.startsWith(`${scope}/`) || path.startsWith(`${scope}[`);
export const isAt = (path: string, around: string): boolean => path === around || isWithin(path, around);
export const reaches = ({ scope, own }: Reach, { path }: UndoEntry): boolean => isAt(path, scope) && !(own && isAt(path, own));

/** Characters. A store bills each write by all that the state holds; a page and its key are an item of one kilobyte. */
const sizes = { keptMax: 1024, pageMax: 900 } as const;
type Sizes = { readonly [size in keyof typeof sizes]: number };

/**
 * What goes out of the state with the next write, and the state without it. `before` is the state that was loaded, and
 * alone says which entries go: whoever loses the race for that write puts aside the very same. What `after` needs, stays.
 */
export function putAside(
  program: Program,
  before: State,
  after: State,
  number: number,
  { keptMax, pageMax }: Sizes = sizes,
): { readonly page: UndoPage; readonly state: State } | undefined {
  const entries = oldestOf(program, before, { keptMax, pageMax });
  const { undo = [], undoAside } = after;
  const isSame =
    undoAside === before.undoAside && entries.every((entry, index) => undo[index] === entry && !isNeeded(program, after, entry));
  if (entries.length === 0 || !isSame) return undefined;
  const aside = { ...undoAside, top: number, entries: (undoAside?.entries ?? 0) + entries.length };
  return {
    page: { entries, ...(undoAside ? { below: undoAside.top } : {}) },
    state: { ...after, undo: undo.slice(entries.length), undoAside: aside },
  };
}

/** Only from the oldest on, without a gap: what lies in pages is older than all that does not. */
function oldestOf(program: Program, state: State, { keptMax, pageMax }: Sizes): readonly UndoEntry[] {
  const { undo = [] } = state;
  if (undo.length === 0 || JSON.stringify(undo).length <= keptMax) return [];
  const needed = undo.findIndex((entry) => isNeeded(program, state, entry));
  let length = 0;
  const beyond = undo.findIndex((entry) => (length += JSON.stringify(entry).length + 1) > pageMax);
  return undo.slice(0, Math.min(needed < 0 ? undo.length : needed, beyond < 0 ? undo.length : Math.max(1, beyond)));
}

/** It is at work, or was taken out of a page; or what is around it is still to be run again, or undone as a whole, instead of it. */
function isNeeded(program: Program, { activities }: State, { path, from }: UndoEntry): boolean {
  if (from !== undefined || activities[path] || activities[`${path}/undo`]) return true;
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) {
    const node = activities[at] && nodeAt(program, at);
    if (node && (runsAgain(node) || node.undo)) return true;
  }
  return false;
}

/** The newest entries that were put aside of what somebody undoes: in the state; nowhere; or in a page that must be handed in first. */
export type Found = { readonly state: State; readonly taken: boolean } | { readonly needs: number };

/** Looks through the pages from the newest down to `floor`, which holds none of them. */
export function takeBack(state: State, reach: Reach, floor: number, pages: UndoPages): Found {
  let { undoAside: aside } = state;
  const to = aside?.top ?? 0;
  for (let at = to; aside && at > floor; ) {
    const seen = aside.taken?.find((each) => isSame(each, reach) && covers(each, at));
    if (seen) {
      at = seen.next;
      continue;
    }
    const page = pages.get(at);
    if (!page) return { needs: at };
    const { below = 0 } = page;
    const { taken = [] }: UndoAside = aside;
    const left = page.entries.filter((entry) => !taken.some((each) => covers(each, at) && reaches(each, entry)));
    const mine = left.filter((entry) => reaches(reach, entry));
    const entries = aside.entries - mine.length;
    if (mine.length === left.length && at === aside.top) aside = lowered({ ...aside, entries }, below);
    else if (mine.length > 0)
      aside = { ...aside, entries, taken: [...taken.filter((each) => !isSame(each, reach)), takenOf(reach, to, below)] };
    if (mine.length > 0) return { state: withEntries(withAside(state, aside), mine, { page, at }), taken: true };
    at = below;
  }
  return { state: withAside(state, aside), taken: false };
}

type Taken = NonNullable<UndoAside['taken']>[number];

const isSame = (one: Reach, other: Reach): boolean => one.scope === other.scope && one.own === other.own;
const covers = ({ to, next }: Taken, at: number): boolean => at <= to && at > next;

const takenOf = ({ scope, own }: Reach, to: number, next: number): Taken => ({ scope, ...(own === undefined ? {} : { own }), to, next });

/** The newest page holds nothing any more: it is not listed, nor what was said of it alone. */
function lowered({ taken, ...rest }: UndoAside, below: number): UndoAside | undefined {
  if (below === 0) return undefined;
  const left = taken?.filter(({ next }) => next < below) ?? [];
  return { ...rest, top: below, ...(left.length > 0 ? { taken: left } : {}) };
}

function withAside(state: State, aside: UndoAside | undefined): State {
  const { undoAside, ...rest } = state;
  if (aside === undoAside) return state;
  return aside ? { ...rest, undoAside: aside } : rest;
}

/** As they were in the list. Several scopes may be undone at a time, each out of pages of its own. */
function withEntries(state: State, mine: readonly UndoEntry[], { page, at }: { readonly page: UndoPage; readonly at: number }): State {
  const { undo = [] } = state;
  const isOlder = ({ from = Number.POSITIVE_INFINITY }: UndoEntry): boolean => from < at;
  const place = new Map(page.entries.map(({ path }, index) => [path, index]));
  const placeOf = ({ path }: UndoEntry): number => place.get(path) ?? 0;
  const taken = [...undo.filter(({ from }) => from === at), ...mine.map((entry) => ({ ...entry, from: at }))];
  const newer = undo.filter((entry) => !isOlder(entry) && entry.from !== at);
  return { ...state, undo: [...undo.filter(isOlder), ...taken.toSorted((a, b) => placeOf(a) - placeOf(b)), ...newer] };
}
