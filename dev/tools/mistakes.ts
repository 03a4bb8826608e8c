/** A mistake of `test/examples/negative.types.ts` that must not compile. */
export interface Mistake {
  readonly what: string;
  /** The word that the compiler's message names, or at which it points. */
  readonly word: string;
  /** The number of the line, counted from 1. */
  readonly line: number;
}

/** One message of a compiler. */
interface Message {
  readonly file: string;
  readonly line: number;
  /** The source text at the place of the message. */
  readonly at: string;
  readonly text: string;
}

const expected = /@ts-expect-error (?<what>.+): (?<word>\S+)$/;

/** Returns the mistakes in a source. */
export const mistakesIn = (source: string): readonly Mistake[] =>
  source.split('\n').flatMap((text, index) => {
    const { what = '', word = '' } = expected.exec(text)?.groups ?? {};
    return word === '' ? [] : [{ what, word, line: index + 2 }];
  });

/** Returns the source without its expected errors, so that a compiler reports each mistake with its message. */
export const unexpecting = (source: string): string => source.replaceAll('@ts-expect-error', '');

/** Compares the output of `tsc --pretty false` with the mistakes in one source, which is compiled as `file`. */
export function comparedWith(output: string, source: string, file: string): { unnamed: readonly Mistake[]; others: readonly string[] } {
  const lines = source.split('\n');
  const mistakes = mistakesIn(source);
  const messages = output.split(/\n(?=\S)/).flatMap((text): readonly Message[] => {
    const [, name = '', line = '', column = ''] = /^(.+)\((\d+),(\d+)\): error/.exec(text) ?? [];
    if (line === '') return text.trim() === '' ? [] : [{ file: '', line: 0, at: '', text }];
    return [{ file: name, line: Number(line), at: lines[Number(line) - 1]?.slice(Number(column) - 1) ?? '', text }];
  });
  const [said, elsewhere] = [true, false].map((isHere) => messages.filter((message) => message.file.endsWith(file) === isHere));
  const isNamed = ({ word, line }: Mistake) =>
    said?.some((message) => message.line === line && (message.at.startsWith(word) || message.text.includes(word)));
  const isMistake = ({ line }: Message) => mistakes.some((each) => each.line === line);
  return {
    unnamed: mistakes.filter((mistake) => !isNamed(mistake)),
    others: [...(said ?? []).filter((message) => !isMistake(message)), ...(elsewhere ?? [])].map(({ text }) => text),
  };
}
