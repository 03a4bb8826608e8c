import { putAside } from './core/undo-pages.ts';
import type { Instance } from './instance.ts';
import type { Loaded } from './planned.ts';
import type { Along, Page } from './store.ts';

/** What a write drops from the state, to be put aside before it or with it; and the instance without that. */
export interface Aside extends Pick<Along, 'page' | 'undoPage'> {
  readonly instance: Instance;
}

const tailBytesMax = 1024;

/**
 * The journal's tail and the oldest of what can be undone, each above a kilobyte. Both go by what was loaded, and lie
 * under its rev: whoever loses the race for this write has put aside the very same.
 */
export function asideOf({ program, record, instance: before }: Loaded, after: Instance): Aside {
  if (record.blob.length <= tailBytesMax) return { instance: after };
  const page = fullTailOf(before);
  const undo = putAside(program, before.state, after.state, record.rev);
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
