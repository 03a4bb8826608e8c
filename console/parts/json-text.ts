import type { Json } from '#core/data/json';

/** A text read as JSON, or where it is wrong. */
export type Parsed = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly problem: string };

export function parsed(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    return { ok: false, problem: `${placeOf(text, String((error as Error).message))} is not JSON.` };
  }
}

/** Browsers name the place in different ways: as a position, or as a line and a column. */
function placeOf(text: string, message: string): string {
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [];
  if (line !== undefined) return `Line ${line}, column ${column}`;
  const [, position] = /position (\d+)/.exec(message) ?? [];
  if (position === undefined) return text.trim() === '' ? 'An empty text' : 'The end of the text';
  const before = text.slice(0, Number(position)).split('\n');
  return `Line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** One line of a comparison. */
export interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

const linesMax = 400;

/** Compares two texts line by line. Beyond 400 lines it shows the second text alone. */
export function diffOf(before: string, after: string): readonly DiffLine[] {
  const [oldLines, newLines] = [before.split('\n'), after.split('\n')];
  if (oldLines.length > linesMax || newLines.length > linesMax) return newLines.map((text) => ({ sign: ' ', text }));
  // The lengths of the longest common subsequences of what follows each pair of lines.
  const common = Array.from({ length: oldLines.length + 1 }, () => new Array<number>(newLines.length + 1).fill(0));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = oldLines.length - 1; i >= 0; i -= 1)
    for (let j = newLines.length - 1; j >= 0; j -= 1) {
      const row = common[i];
      if (row) row[j] = oldLines[i] === newLines[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < oldLines.length || j < newLines.length) {
    if (i < oldLines.length && j < newLines.length && oldLines[i] === newLines[j]) {
      lines.push({ sign: ' ', text: oldLines[i] ?? '' });
      i += 1;
      j += 1;
    } else if (i < oldLines.length && (j >= newLines.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: '-', text: oldLines[i] ?? '' });
      i += 1;
    } else {
      lines.push({ sign: '+', text: newLines[j] ?? '' });
      j += 1;
    }
  }
  return lines;
}
