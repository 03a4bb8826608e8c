import { useEffect, useState } from 'preact/hooks';
import type { Json, JsonObject } from '#core/data/json';
import { call, Problem } from '../api/client.ts';
import { person } from '../api/session.ts';
import { go } from '../router.ts';
import { useDraft } from './draft.ts';
import { type DiffLine, diffOf } from './json-text.ts';
import { useKeys } from './keys.ts';
import { toast } from './toast.tsx';

/** The body of the call that writes what was typed, without the reason. */
export type Built = { readonly body: JsonObject } | { readonly missing: string };

/** The person who has saved the newest version. `by` is null for the app itself. */
export interface Author {
  readonly by: string | null;
  readonly at: string | null;
  readonly reason: string | null;
}

type Form = { readonly id: string; readonly reason: string; readonly [field: string]: Json };

interface Versioned {
  readonly id: string;
  readonly version: number;
}

/** The parts of an editor that are different for rules and for solutions. */
export interface Editing<F extends Form, Item extends Versioned> {
  readonly what: 'rule' | 'solution';
  /** The thing as it was read last; undefined for a new one. */
  readonly item: Item | undefined;
  readonly formOf: (item: Item | undefined) => F;
  readonly build: (form: F, item: Item | undefined) => Built;
  readonly authorOf: (id: string) => Promise<Author | undefined>;
  readonly refresh: () => void;
  /** A sentence for the message after a save: from when on the saved version is in effect. */
  readonly effect?: string;
}

/** Somebody else has saved a version after the person began to type. */
export interface Overtaken {
  readonly version: number;
  /** The person who saved it; undefined while that is not known. */
  readonly author: Author | undefined;
  /** The differences from the saved version to the typed text. */
  readonly lines: readonly DiffLine[];
}

export interface Editor<F extends Form> {
  readonly form: F;
  readonly change: (changes: Partial<F>) => void;
  readonly built: Built;
  readonly isChanged: boolean;
  readonly problem: Problem | undefined;
  readonly busy: boolean;
  readonly overtaken: Overtaken | undefined;
  /** Saves what was typed, unless somebody else was faster. */
  readonly save: () => void;
  /** Saves what was typed as the version after that of the other person. */
  readonly saveOver: () => void;
  readonly discard: () => void;
}

/** Only the fields that a person has typed, and the version that the person then saw. Untouched fields follow the newest version. */
type Typed = { readonly typed: JsonObject; readonly seen: number };

/** Edits a thing with versions. The typed text stays on the page when somebody else saves a version meanwhile. */
export function useEditor<F extends Form, Item extends Versioned>(about: Editing<F, Item>): Editor<F> {
  const { what, item, formOf, build, refresh, effect = '' } = about;
  const start = formOf(item);
  const version = item?.version ?? 0;
  const draft = useDraft<Typed>(`${person.value?.subject ?? ''} ${what} ${item?.id ?? 'new'}`, { typed: {}, seen: 0 });
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const { typed } = draft.value;
  const form = { ...start, ...typed } as F;
  const built = build(form, item);
  const isChanged = textOf({ ...form, reason: '' }) !== textOf({ ...start, reason: '' });
  const isOvertaken = item !== undefined && isChanged && draft.value.seen !== version;
  const author = useAuthor(about, isOvertaken);
  const send = (): void => {
    if ('missing' in built || form.reason.trim() === '' || busy || !isChanged) return;
    setBusy(true);
    setProblem(undefined);
    const headers: { [name: string]: string } = item ? { 'if-match': `"${version}"` } : {};
    call('PUT', `/${what}s/${encodeURIComponent(form.id)}`, { body: { ...built.body, reason: form.reason }, headers })
      .then(() => {
        toast(`Saved: ${form.id}.${effect}`);
        draft.discard();
        refresh();
        go(`/${what}s/${form.id}`);
      })
      .catch((error: unknown) => {
        setProblem(error instanceof Problem ? error : undefined);
        refresh();
      })
      .finally(() => setBusy(false));
  };
  const save = (): void => {
    if (!isOvertaken) send();
  };
  const change = (changes: Partial<F>): void => {
    // After a change, the errors of the last save may no longer be true.
    if (!('reason' in changes)) setProblem(undefined);
    draft.change({ typed: { ...typed, ...changes } as JsonObject, ...(Object.keys(typed).length === 0 ? { seen: version } : {}) });
  };
  const discard = (): void => {
    draft.discard();
    setProblem(undefined);
  };
  useKeys([{ key: 'Ctrl+Enter', what: `Save the ${what}`, run: save, always: true }], [save]);
  const overtaken = isOvertaken ? { version, author, lines: diffOf(pretty(build(start, item)), pretty(built)) } : undefined;
  // `overtaken` already says what a refusal with status 412 would say.
  const shownProblem = isOvertaken && problem?.status === 412 ? undefined : problem;
  return { form, change, built, isChanged, problem: shownProblem, busy, overtaken, save, saveOver: send, discard };
}

const textOf = (value: Json): string => JSON.stringify(value);
const pretty = (built: Built): string => ('body' in built ? JSON.stringify(built.body, null, 2) : built.missing);

/** Reads who has saved the newest version, once for each version. */
function useAuthor<F extends Form, Item extends Versioned>({ item, authorOf }: Editing<F, Item>, isWanted: boolean): Author | undefined {
  const [known, setKnown] = useState<{ readonly version: number; readonly author: Author | undefined }>();
  const { id, version } = item ?? { id: '', version: 0 };
  useEffect(() => {
    if (isWanted)
      authorOf(id).then(
        (author) => setKnown({ version, author }),
        () => undefined,
      );
  }, [isWanted, id, version]);
  return known?.version === version ? known.author : undefined;
}
