import { styleText } from 'node:util';
import { printable, shortened } from '#ports/util/text';

export { counted, printable, shortened, spanText } from '#ports/util/text';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
export type Paint = (style: Style, text: string) => string;

export const painter =
  (colours: boolean): Paint =>
  (style, text) =>
    colours ? styleText(style, text, { validateStream: false }) : text;

/** Returns texts, one in a line, for other programs. */
export const lines = (texts: readonly string[]): string => texts.map((text) => `${printable(text)}\n`).join('');

/** The most characters of a cell by default. */
export const widthMax = 200;

/** Formats rows under headings, with columns as wide as their widest cell. Paints after padding, because color codes have no width. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], paint: Paint, cellMax: number = widthMax): string {
  const cells = rows.map((row) => row.map((cell) => shortened(printable(cell), cellMax)));
  const widths = headings.map((heading, column) => Math.max(heading.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [paint('dim', line(headings)), ...cells.map(line)].map((text) => `${text}\n`).join('');
}

/** Characters of an id in a list on a screen. The other commands find an order by them. */
const idCharacters = 13;

/** Returns the id of an order for a list: shortened on a screen, whole in a pipe. */
export const listedId = (orderId: string, { isScreen }: { readonly isScreen: boolean }): string =>
  isScreen ? shortened(orderId, idCharacters) : orderId;
