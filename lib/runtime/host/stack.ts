import { isError } from '#core/data/thrown';

/** The folder of this package: frames inside its code say nothing to the developer of an app. */
const root = new URL('../../../', import.meta.url).href;
const own = [`${root}lib/`, `${root}functions/`, `${root}bin/`].flatMap((url) => [url, new URL(url).pathname]);

const framesMax = 8;

/** Returns the lines of an error's stack that lie in the app; those of its packages if none does. */
export function framesOf(error: unknown): readonly string[] {
  const lines = (isError(error) ? (error.stack ?? '') : '').split('\n').filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line));
  const outside = lines.filter(
    (line) => !line.includes('node:') && !line.includes('compute:1:1') && !own.some((folder) => line.includes(folder)),
  );
  const ofApp = outside.filter((line) => !line.includes('/node_modules/'));
  const shown = ofApp.length > 0 ? ofApp : outside;
  return shown.slice(0, framesMax).map((line) => line.trim().replaceAll('file://', ''));
}

/** Returns the first line of an error's stack that lies in the app, or else in its packages; undefined if none does. */
export function placeOf(error: unknown): string | undefined {
  const [first] = framesOf(error);
  return first === undefined ? undefined : ` ${first}`;
}
