import type { State, UndoPage } from '#core/data/state';
import { rootPath } from '#core/definition/definition';
import { pageIn, pageOut } from '#core/engine/undo-pages';
import { UnreadableRecordError } from '#ports/errors';
import type { Page, SentWithWrite, Store } from '#ports/store';
import type { Instance } from './instance.ts';
import type { Loaded } from './types.ts';

/** What a write drops from the state, to be put aside before it or with it; and the instance without that. */
export interface Paged extends Pick<SentWithWrite, 'page' | 'undoPage'> {
  readonly instance: Instance;
}

const tailBytesMax = 1024;

/**
 * The journal's tail and the oldest of what can be undone, each above a kilobyte. Both go by what was loaded, and lie
 * under its rev: whoever loses the race for this write has put aside the very same.
 */
export function pagedOut({ program, record, instance: before, rebuilt }: Loaded, after: Instance): Paged {
  if (rebuilt || record.blob.length <= tailBytesMax) return { instance: after };
  const page = fullTailOf(before);
  const undo = pageOut(program, before.state, after.state, record.rev);
  return {
    instance: {
      ...after,
      ...(page ? { tail: after.tail.filter(({ seq }) => seq > (page.at(-1)?.seq ?? 0)) } : {}),
      ...(undo ? { state: undo.state } : {}),
    },
    ...(page ? { page } : {}),
    ...(undo ? { undoPage: undo.page } : {}),
  };
}

const fullTailOf = ({ tail }: Instance): Page | undefined =>
  JSON.stringify(tail).length <= tailBytesMax ? undefined : (tail as unknown as Page);

/** With all that can be undone, also what lies in pages: for looking at, not for storing. */
export async function withUndoPages(store: Pick<Store, 'undoPage'>, orderId: string, state: State): Promise<State> {
  const pages = new Map<number, UndoPage>();
  for (let whole = state; ; ) {
    const found = pageIn(whole, { scope: rootPath }, 0, pages);
    if (!('needs' in found)) {
      if (!found.searched) return found.state;
      whole = found.state;
      continue;
    }
    pages.set(found.needs, await undoPageOf(store, orderId, found.needs));
  }
}

export async function undoPageOf(store: Pick<Store, 'undoPage'>, orderId: string, rev: number): Promise<UndoPage> {
  const page = await store.undoPage(orderId, rev);
  if (!page) throw new UnreadableRecordError(orderId, `the page ${rev} of what it can undo is missing`);
  return page;
}
