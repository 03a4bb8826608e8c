/** Estimates the width of text in any font: an upper bound for the usual ones. */

export interface Type {
  /** Font size in pixels. */
  readonly size: number;
  readonly face: 'sans' | 'bold' | 'mono';
}

/** Widths in units of the font size. Any other character is as wide as a letter. */
const classes: readonly (readonly [characters: RegExp, width: number])[] = [
  [/[iljI.,:;'|!]/, 0.33],
  [/[ ftr()[\]{}/\\"-]/, 0.42],
  [/[mwMW@%]/, 1],
  [/[A-Z&<>=+#~…]/, 0.78],
  [/[ᄀ-￿]|[\u{10000}-\u{10ffff}]/u, 1.05],
];
const letterWidth = 0.63;
const boldFactor = 1.08;
const monoWidth = 0.61;

export function widthOf(text: string, { size, face }: Type): number {
  let width = 0;
  for (const character of text) {
    const [, own = face === 'mono' ? monoWidth : letterWidth] = classes.find(([characters]) => characters.test(character)) ?? [];
    width += face === 'mono' && own < 1.05 ? monoWidth : own;
  }
  return width * size * (face === 'bold' ? boldFactor : 1);
}

/** Breaks text into lines at words or path separators. An ellipsis replaces the text that does not fit. */
export function wrapped(text: string, type: Type, { widthMax, linesMax }: { widthMax: number; linesMax: number }): readonly string[] {
  const fits = (line: string) => widthOf(line, type) <= widthMax;
  const lines = [''];
  for (const word of wordsOf(text).flatMap((each) => pieces(each, fits))) {
    const line = lines.at(-1) ?? '';
    if (fits((line + word).trimEnd())) lines[lines.length - 1] = line + word;
    else lines.push(word.trimStart());
  }
  const shown = lines.map((line) => line.trimEnd()).filter((line, index) => line !== '' || index === 0);
  if (shown.length <= linesMax) return shown;
  const [last = ''] = shown.slice(linesMax - 1);
  return [...shown.slice(0, linesMax - 1), shortened(last, fits)];
}

/** Splits text into words, each with the space or separator that follows it. */
const wordsOf = (text: string): readonly string[] => text.match(/\s*[^\s./_,-]*[./_,-]*\s*/gu)?.filter((word) => word !== '') ?? [];

/** Cuts a word that is too long for a line. */
function pieces(word: string, fits: (line: string) => boolean): readonly string[] {
  const cut: string[] = [];
  let piece = '';
  for (const character of word) {
    if (piece !== '' && !fits((piece + character).trimEnd())) {
      cut.push(piece);
      piece = '';
    }
    piece += character;
  }
  return [...cut, piece];
}

function shortened(line: string, fits: (line: string) => boolean): string {
  const characters = [...line];
  while (characters.length > 0 && !fits(`${characters.join('')}…`)) characters.pop();
  return `${characters.join('').trimEnd()}…`;
}

/** Characters that XML does not allow. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML has no place for.
const unfit = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;
const entities: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escaped = (text: string): string =>
  text.replaceAll(unfit, '\ufffd').replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
