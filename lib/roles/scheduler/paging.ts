import type { State, UndoPage } from '#core/data/state';
import { rootPath } from '#core/definition/definition';
import { pageIn, pageOut } from '#core/engine/undo-pages';
import { UnreadableRecordError } from '#ports/errors';
import type { Page, SentWithWrite, Store } from '#ports/store';
import type { Instance } from './instance.ts';
import type { Loaded } from './types.ts';

/** The pages that a write moves out of the state, and the instance without them. */
export interface Paged extends Pick<SentWithWrite, 'page' | 'undoPage'> {
  readonly instance: Instance;
}

const tailBytesMax = 1024;

/**
 * Pages out the journal's tail and the oldest undo entries, each when it exceeds a kilobyte. Both pages depend only on
 * the loaded record and are stored under its rev. A host that loses the race for this write has stored the same pages.
 */
export function pagedOut({ program, record, instance: before, rebuilt }: Loaded, after: Instance): Paged {
  // A rebuilt instance may differ from the one of another host, and so would its pages.
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

/** Returns the state with all its undo entries, including paged ones; for display, not for storing. */
export async function withUndoPages(store: Pick<Store, 'undoPage'>, orderId: string, state: State): Promise<State> {
  const pages = new Map<number, UndoPage>();
  for (let whole = state; ; ) {
    const found = pageIn(whole, { scope: rootPath }, 0, pages);
    if (!('needs' in found)) {
      if (!found.hasEntries) return found.state;
      whole = found.state;
      continue;
    }
    pages.set(found.needs, await undoPageOf(store, orderId, found.needs));
  }
}

export async function undoPageOf(store: Pick<Store, 'undoPage'>, orderId: string, rev: number): Promise<UndoPage> {
  const page = await store.undoPage(orderId, rev);
  if (!page) throw new UnreadableRecordError(orderId, `its undo page ${rev} is missing`);
  return page;
}
