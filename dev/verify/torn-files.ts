import { readFileSync, truncateSync } from 'node:fs';
import { dataFile } from '#adapters/sqlite/open';
import { type Ending, site } from '../../test/processes/support.ts';
import { copyOf, fateOfPage, flip, logFile, pageBytes, problemsAfter, scratchIn, wreck } from '../../test/processes/torn.ts';
import { type Figure, measured, type Run } from './figure.ts';
import { withCleanup } from './live/cleanup.ts';

/** A page with its header in the log. */
const frameBytes = pageBytes + 24;

/** G9-files: the data files are damaged, as by a crash or a bad disk. */
export const figure: Figure = {
  shows: 'a log that is cut or damaged at any byte loses only what came after that byte, and a damaged page is reported',
  measure: (run) => withCleanup((ending) => measureFiles(ending, run)),
};

async function measureFiles(ending: Ending, { form, progress }: Run) {
  const place = site(ending);
  const left = await wreck(ending, place, form === 'full' ? 60 : 20);
  const scratch = scratchIn(place);
  const problems: string[] = [];

  const places = placesIn(left.logBytes, form);
  const damages = { cut: truncateSync, flipped: flip };
  for (const [index, at] of places.entries()) {
    for (const [name, damage] of Object.entries(damages)) {
      const folder = copyOf(left, scratch);
      damage(logFile(folder), at);
      problems.push(...(await problemsAfter(left, folder, at)).map((problem) => `log ${name} at byte ${at}: ${problem}`));
    }
    if (index % 1000 === 999) progress(`${index + 1} of ${places.length} places of the log`);
  }

  const fates = { refused: 0, found: 0, untouched: 0 };
  const pages = readFileSync(dataFile(left.folder)).length / pageBytes;
  for (let page = 0; page < pages; page++) {
    for (const wasOpen of [true, false]) {
      const fate = await fateOfPage(left, scratch, page, wasOpen);
      if (fate instanceof Error) problems.push(`page ${page}: ${fate.message}`);
      else fates[fate] += 1;
    }
  }
  const lacks = left.logBytes < 20 * frameBytes || fates.refused + fates.found < 10 ? ['too little was damaged'] : [];
  return measured([...problems.slice(0, 20), ...lacks], {
    logBytes: left.logBytes,
    placesCut: places.length,
    placesFlipped: places.length,
    pagesDamaged: 2 * pages,
    ...fates,
    wrong: problems.length,
  });
}

/** Returns the position of every byte of the last frame, and positions all over the log; the short form returns a few of each. */
function placesIn(bytes: number, form: Run['form']): readonly number[] {
  const [lastStep, places] = form === 'full' ? [1, 1000] : [199, 40];
  const last = Array.from({ length: Math.floor(frameBytes / lastStep) }, (_, index) => bytes - 1 - index * lastStep);
  return [...last, ...Array.from({ length: places }, (_, index) => Math.floor((bytes * index) / places))];
}
