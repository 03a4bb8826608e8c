import { type Signal, signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Json } from '#core/data/json';

/*
 * Text that a person has typed and not sent yet. It survives the end of a session, and a sign-in on another page: the
 * storage of the tab keeps it. It is deleted when it is sent or discarded, when the person signs out, and when another person uses the tab.
 */
const prefix = 'redress-draft ';
const drafts = new Map<string, Signal<Json>>();

function read(key: string): Json | undefined {
  try {
    const text = sessionStorage.getItem(prefix + key);
    return text === null ? undefined : (JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}

function keep(key: string, value: Json | undefined): void {
  try {
    if (value === undefined) sessionStorage.removeItem(prefix + key);
    else sessionStorage.setItem(prefix + key, JSON.stringify(value));
  } catch {
    // Without storage, the draft lives as long as the page.
  }
}

export interface Draft<T> {
  readonly value: T;
  readonly change: (changes: Partial<T>) => void;
  /** Forgets what was typed. */
  readonly discard: () => void;
}

/** Keeps the fields of a form under a key. The key begins with the id of the person, and names the form: the order and the instruction. */
export function useDraft<T extends { readonly [field: string]: Json }>(key: string, initial: T): Draft<T> {
  const kept = useMemo(() => {
    const found = drafts.get(key) ?? signal<Json>({ ...initial, ...(read(key) as object | undefined) });
    drafts.set(key, found);
    return found as Signal<unknown> as Signal<T>;
  }, [key]);
  return {
    value: kept.value,
    change(changes) {
      kept.value = { ...kept.peek(), ...changes };
      // Only what was typed is kept: the initial values may hold data of the order.
      keep(key, Object.fromEntries(Object.entries(kept.peek()).filter(([field, value]) => value !== initial[field])));
    },
    discard() {
      drafts.delete(key);
      keep(key, undefined);
      kept.value = initial;
    },
  };
}

/** Forgets all drafts, because they belong to the person who signs out. */
export const forgetDrafts = (): void => forget(() => true);

/** Forgets the drafts of other people who used this tab. A key begins with the person. */
export const forgetDraftsOfOthers = (subject: string): void => forget((key) => !key.startsWith(`${subject} `));

function forget(isForgotten: (key: string) => boolean): void {
  for (const key of drafts.keys()) if (isForgotten(key)) drafts.delete(key);
  try {
    for (const name of Object.keys(sessionStorage))
      if (name.startsWith(prefix) && isForgotten(name.slice(prefix.length))) sessionStorage.removeItem(name);
  } catch {
    // There is no storage, so there is nothing to delete.
  }
}
