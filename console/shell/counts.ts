import { signal } from '@preact/signals';
import type { Polled } from '../api/poll.ts';
import type { Count, Overview } from '../api/types.ts';

/** The figures of the whole system. The shell polls them once for the badges of the rail and for Home. */
export const overview = signal<Polled<Overview>>({ data: undefined, etag: undefined, problem: undefined, at: 0, refresh: () => undefined });

/** `1,284`, or `10,000+` where the system stops counting. */
export const countText = (count: Count): string =>
  typeof count === 'number' ? count.toLocaleString('en') : `${count.atLeast.toLocaleString('en')}+`;

/** Returns the number of tasks that are open or claimed. */
export const waitingTasks = ({ open, claimed }: Overview['tasks']): Count =>
  typeof open !== 'number' ? open : typeof claimed !== 'number' ? claimed : open + claimed;

/** Whether a count is above zero. */
export const isSome = (count: Count): boolean => count !== 0;

/** The numbers of things that wait for a person, by screen, for the badges of the rail. */
export const counts = signal<{ readonly [path: string]: string | undefined }>({});

export function setCount(path: string, count: string | undefined): void {
  if (counts.peek()[path] !== count) counts.value = { ...counts.peek(), [path]: count };
}
