import { effect, type Signal, signal } from '@preact/signals';

/** A setting of this browser. It is kept where the browser allows it. Tokens are never kept. */
export function stored<T>(key: string, initial: T): Signal<T> {
  const value = signal<T>(read(key) ?? initial);
  effect(() => {
    const text = JSON.stringify(value.value);
    try {
      if (text !== JSON.stringify(initial) || localStorage.getItem(key) !== null) localStorage.setItem(key, text);
    } catch {
      // A browser without storage forgets the setting at the end of the tab.
    }
  });
  return value;
}

function read<T>(key: string): T | undefined {
  try {
    const text = localStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}
