import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of this package's own code: its stack frames do not help users. */
const ownFolder = new URL('../', import.meta.url).href;

/** Returns the first place of a stack trace in the user's code, such as `app.ts:12:5`; undefined if it has none. */
export function placeIn(stack: string | undefined): string | undefined {
  for (const [, url = '', at = ''] of (stack ?? '').matchAll(/^\s+at .*?\(?(file:\/\/\S+?):(\d+:\d+)\)?$/gm))
    if (!url.startsWith(ownFolder) && !url.includes('/node_modules/')) return `${shortPath(url)}:${at}`;
  return undefined;
}

/** Shortens a path or a file URL to a path from the current folder, unless it lies outside. */
export function shortPath(place: string): string {
  const path = place.startsWith('file:') ? fileURLToPath(place) : place;
  const near = relative(process.cwd(), path);
  return near.startsWith('..') ? path : near;
}
