import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { call, connection, Problem, serverNow } from './client.ts';

/** The last answer of a call that is repeated. */
export interface Polled<T> {
  readonly data: T | undefined;
  readonly etag: string | undefined;
  /** The reason why the last attempt failed. `data` then comes from an earlier one. */
  readonly problem: Problem | undefined;
  /** The time at which the data was true, by the clock of the server; 0 before the first answer. */
  readonly at: number;
  readonly refresh: () => void;
}

type Known = Omit<Polled<never>, 'refresh' | 'data'> & { readonly data: unknown };

const nothing: Known = { data: undefined, etag: undefined, problem: undefined, at: 0 };
/** The last answer of each path, so that a screen shows it at once when a person comes back to it. */
const answers = new Map<string, Known>();
const answersMax = 60;
const backoffMaxMs = 30_000;

/** Calls a path again and again, with its ETag; never while the page is hidden, and less often while the calls fail. */
export function usePoll<T>(path: string | undefined, everyMs = 5_000): Polled<T> {
  const [known, setKnown] = useState<{ path: string | undefined; known: Known }>({ path, known: answers.get(path ?? '') ?? nothing });
  const wake = useRef(() => {});

  useEffect(() => {
    if (path === undefined) return;
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let failures = 0;
    let running = false;
    const keep = (next: Known): void => {
      if (ended.signal.aborted) return;
      remember(path, next);
      setKnown({ path, known: next });
    };
    keep(answers.get(path) ?? nothing);

    async function round(): Promise<void> {
      clearTimeout(timer);
      if (ended.signal.aborted || running || document.hidden) return;
      running = true;
      const before = answers.get(path ?? '') ?? nothing;
      try {
        const headers: { [name: string]: string } = before.etag === undefined ? {} : { 'if-none-match': before.etag };
        const { status, etag, data } = await call<T>('GET', path ?? '', { headers, signal: ended.signal });
        failures = 0;
        keep({ data: status === 304 ? before.data : data, etag: etag ?? before.etag, problem: undefined, at: serverNow() });
      } catch (error) {
        if (ended.signal.aborted) return;
        failures += 1;
        keep({ ...before, problem: error instanceof Problem ? error : unexpected(error) });
      } finally {
        running = false;
      }
      const pause = failures === 0 ? everyMs : Math.min(backoffMaxMs, everyMs * 2 ** (failures - 1));
      if (failures > 0 && connection.peek().lostSince !== undefined)
        connection.value = { ...connection.peek(), nextTryAt: Date.now() + pause };
      timer = setTimeout(round, pause);
    }
    wake.current = () => void round();
    const onSight = (): void => {
      if (!document.hidden) void round();
    };
    document.addEventListener('visibilitychange', onSight);
    void round();
    return () => {
      ended.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onSight);
    };
  }, [path, everyMs]);

  const refresh = useCallback(() => wake.current(), []);
  // Right after a change of the path, the state is still that of the path before.
  const shown = known.path === path ? known.known : (answers.get(path ?? '') ?? nothing);
  return { ...shown, data: shown.data as T | undefined, refresh };
}

function remember(path: string, known: Known): void {
  answers.delete(path);
  answers.set(path, known);
  const [oldest] = answers.keys();
  if (answers.size > answersMax && oldest !== undefined) answers.delete(oldest);
}

/** Forgets all answers, when another person signs in. */
export const forgetAnswers = (): void => answers.clear();

const unexpected = (error: unknown): Problem =>
  new Problem({ status: 0, code: 'console-error', title: 'The console failed.', detail: String(error) });

/** A page of a list of the API. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

export interface Pages<T> extends Polled<Page<T>> {
  readonly items: readonly T[];
  /** Whether the list has more rows than those that are loaded. */
  readonly hasMore: boolean;
  readonly loading: boolean;
  readonly more: () => void;
}

/** Polls the first page of a list, and keeps the older pages that a person has loaded. */
export function usePages<T>(path: string | undefined, keyOf: (item: T) => string, everyMs = 5_000): Pages<T> {
  const first = usePoll<Page<T>>(path, everyMs);
  const [older, setOlder] = useState<{ path: string | undefined; items: readonly T[]; next: string | null }>();
  const [loading, setLoading] = useState(false);
  const loaded = older?.path === path ? older : undefined;
  const next = loaded ? loaded.next : (first.data?.next ?? null);

  const more = useCallback(() => {
    if (next === null || path === undefined || loading) return;
    setLoading(true);
    const at = `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(next)}`;
    call<Page<T>>('GET', at)
      .then(
        ({ data }) => data && setOlder({ path, items: [...(loaded?.items ?? first.data?.items ?? []), ...data.items], next: data.next }),
      )
      .catch(() => undefined)
      .finally(() => setLoading(false));
  }, [path, next, loading, loaded, first.data]);

  const shown = new Map((first.data?.items ?? []).map((item) => [keyOf(item), item]));
  for (const item of loaded?.items ?? []) if (!shown.has(keyOf(item))) shown.set(keyOf(item), item);
  return { ...first, items: [...shown.values()], hasMore: next !== null, loading, more };
}
