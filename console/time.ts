import { signal } from '@preact/signals';
import { serverNow } from './api/client.ts';
import { stored } from './stored.ts';

/** The time of the server, which changes each second while the page is in sight. */
export const now = signal(serverNow());
setInterval(() => {
  if (!document.hidden) now.value = serverNow();
}, 1_000);

export const inUtc = stored('redress-utc', false);

const shapes = {
  day: { day: 'numeric', month: 'short', year: 'numeric' },
  dayOfYear: { day: 'numeric', month: 'short' },
  clock: { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  minutes: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
} as const satisfies { readonly [name: string]: Intl.DateTimeFormatOptions };

/** The formats made so far. Making one takes half a millisecond, and a list formats hundreds of dates in each second. */
const made = new Map<string, Intl.DateTimeFormat>();

function formatted(date: Date, shape: keyof typeof shapes): string {
  const name = `${shape} ${inUtc.value}`;
  let format = made.get(name);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { ...shapes[shape], ...(inUtc.value ? { timeZone: 'UTC' } : {}) });
    made.set(name, format);
  }
  return format.format(date);
}

const at = (time: string | number): Date => new Date(time);

const isSameDay = (one: Date, other: Date): boolean => dayOf(one) === dayOf(other);
const dayOf = (date: Date): string => formatted(date, 'day');

/** `10:41:12` */
export const clockTime = (time: string | number): string => formatted(at(time), 'clock');

/** `10:41:12` today, else `3 Dec 10:40`. */
export function shortTime(time: string | number): string {
  const date = at(time);
  if (isSameDay(date, at(now.peek()))) return clockTime(time);
  return `${formatted(date, 'dayOfYear')} ${formatted(date, 'minutes')}`;
}

/** The exact time, for a hint: `26 Nov 2026, 10:41:12.345 UTC`. */
export const exactTime = (time: string | number): string =>
  `${dayOf(at(time))}, ${clockTime(time)}.${String(at(time).getUTCMilliseconds()).padStart(3, '0')}${inUtc.value ? ' UTC' : ''}`;

/** A length of time in one or two units: `0.2 s`, `41 s`, `6 min`, `1 h 20 min`, `10 d 2 h`. */
export function lengthOf(ms: number): string {
  const seconds = Math.abs(ms) / 1_000;
  if (seconds < 9.95) return `${seconds < 0.05 ? '0' : seconds.toFixed(1).replace(/\.0$/, '')} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return hours >= 6 || minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return days >= 30 || hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}

/** Returns how long ago a time was, in one unit: `3 s`, `6 min`, `2 h`, `10 d`. */
export function ageOf(time: string | number): string {
  const seconds = Math.max(0, (now.value - at(time).getTime()) / 1_000);
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
