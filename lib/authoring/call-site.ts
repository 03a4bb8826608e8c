import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of this package's own code: its stack frames do not help users. */
const ownFolder = fileURLToPath(new URL('../', import.meta.url));

/** Returns the first place of a stack trace in the user's code, such as `app.ts:12:5`; undefined if it has none. */
export function placeIn(stack: string | undefined): string | undefined {
  // Frames of ES modules have file URLs; frames of CommonJS and of some test runners have paths.
  for (const [, place = '', at = ''] of (stack ?? '').matchAll(
    /^\s+at (?:async )?(?:.*?\()?((?:file:\/\/|\/|[A-Z]:\\)[^()]*?):(\d+:\d+)\)?$/gm,
  )) {
    const path = place.startsWith('file:') ? fileURLToPath(place) : place;
    if (!path.startsWith(ownFolder) && !/[/\\]node_modules[/\\]/.test(path)) return `${shortPath(path)}:${at}`;
  }
  return undefined;
}

/** Shortens a path or a file URL to a path from the current folder, unless it lies outside. */
export function shortPath(place: string): string {
  const path = place.startsWith('file:') ? fileURLToPath(place) : place;
  const near = relative(process.cwd(), path);
  return near.startsWith('..') ? path : near;
}
