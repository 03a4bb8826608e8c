import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
export type Paint = (style: Style, text: string) => string;

export const painter =
  (colours: boolean): Paint =>
  (style, text) =>
    colours ? styleText(style, text, { validateStream: false }) : text;

/** Characters that a terminal interprets: control characters, line separators, and marks that change the text direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must not reach a terminal.
const unsafe = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns untrusted text on one line, without characters that a terminal interprets. */
export const printable = (text: string): string => text.replace(unsafe, '\ufffd');

/** Formats a time span: `0.2 s`, `12 s`, `3 min`, `4 h`, `2 d`. */
export function spanText(ms: number): string {
  if (ms < 9_950) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  if (ms < 100_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 6_000_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`;
}

const widthMax = 200;

/** Formats rows under headings, with columns as wide as their widest cell. Paints after padding, because color codes have no width. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], paint: Paint): string {
  const cells = rows.map((row) => row.map((cell) => shortened(printable(cell), widthMax)));
  const widths = headings.map((heading, column) => Math.max(heading.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [paint('dim', line(headings)), ...cells.map(line)].map((text) => `${text}\n`).join('');
}

/** Cuts a text to `length` characters, with `…` in place of the rest. */
export const shortened = (text: string, length: number): string =>
  text.length <= length ? text : length < 1 ? '' : `${text.slice(0, length - 1)}…`;
