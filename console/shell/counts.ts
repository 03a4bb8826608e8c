import { signal } from '@preact/signals';

/** The numbers of things that wait for a person, by screen, for the badges of the rail. The screens that know a figure set it. */
export const counts = signal<{ readonly [path: string]: string | undefined }>({});

export function setCount(path: string, count: string | undefined): void {
  if (counts.peek()[path] !== count) counts.value = { ...counts.peek(), [path]: count };
}
