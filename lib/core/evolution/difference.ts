import type { Json } from '#core/data/json';

/**
 * Above this number of lines, only the common beginning and end are left out: the table of a full comparison grows with the square of the
 * lines.
 */
const linesMax = 1_500;

/**
 * Returns what a change does to a value, as lines. A line begins with `- ` if it is gone, with `+ ` if it is new, and with two spaces if it
 * stays. The comparison ignores indentation and commas, so the content of a new wrapper stays. Lines far from a change are left out.
 */
export function differenceLines(before: Json, after: Json): readonly string[] {
  const [old, now] = [before, after].map((value) => JSON.stringify(value, null, 2).split('\n')) as [string[], string[]];
  return old.length > linesMax || now.length > linesMax ? ends(old, now) : nearby(compared(old, now));
}

const essence = (line: string): string => line.trim().replace(/,$/, '');

/** Compares two texts line by line, by their longest common subsequence. */
function compared(old: readonly string[], now: readonly string[]): readonly string[] {
  const [left, right] = [old.map(essence), now.map(essence)];
  const common = old.map(() => new Uint16Array(now.length + 1));
  common.push(new Uint16Array(now.length + 1));
  const at = (row: number, column: number): number => common[row]?.[column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--)
    for (let column = now.length - 1; column >= 0; column--)
      (common[row] as Uint16Array)[column] =
        left[row] === right[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: string[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < now.length) {
    if (row < old.length && column < now.length && left[row] === right[column]) {
      lines.push(`  ${now[column++]}`);
      row++;
    } else if (row < old.length && (column === now.length || at(row + 1, column) >= at(row, column + 1))) lines.push(`- ${old[row++]}`);
    else lines.push(`+ ${now[column++]}`);
  }
  return lines;
}

/** Leaves out the lines that both texts have at their beginning and at their end. */
function ends(old: readonly string[], now: readonly string[]): readonly string[] {
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start++;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const changed = (lines: readonly string[], sign: string) => lines.slice(start, lines.length - end).map((line) => `${sign} ${line}`);
  return [...changed(old, '-'), ...changed(now, '+')];
}

/** The number of unchanged lines that are shown on each side of a change. */
const around = 3;

function nearby(lines: readonly string[]): readonly string[] {
  const changed = lines.flatMap((line, index) => (line.startsWith('  ') ? [] : [index]));
  const isNear = (index: number): boolean => changed.some((each) => Math.abs(each - index) <= around);
  return lines.flatMap((line, index) => (isNear(index) ? [line] : isNear(index - 1) && index < lines.length - 1 ? ['  …'] : []));
}
