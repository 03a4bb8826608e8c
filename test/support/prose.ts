import { globSync, readFileSync, statSync } from 'node:fs';

/** A comment, or a paragraph of a document, in one line; code in backticks is `X`. */
export interface Prose {
  /** `lib/core/advance.ts:30` */
  readonly place: string;
  readonly text: string;
}

/** Pages that a tool writes, and tables of requirements in the words of their sources. */
const generated = /(^|\/)(coverage|mutation|requirements|laws)\.md$|\/decisions\//;

/** Returns all prose of files and folders: comments of code, paragraphs of Markdown. */
export function proseOf(paths: readonly string[]): readonly Prose[] {
  const files = paths.flatMap((path) => (statSync(path).isDirectory() ? globSync(`${path}/**/*.{ts,md}`) : [path]));
  return files.filter((file) => !generated.test(file)).flatMap((file) => (file.endsWith('.md') ? paragraphsOf(file) : commentsOf(file)));
}

/** Splits prose into sentences. */
export const sentencesOf = (text: string): readonly string[] =>
  text.split(/(?<=[.!?])\s+(?=[A-Z("'])/).filter((sentence) => /\w+ \w+/.test(sentence));

const comments = /\/\*\*?([\s\S]*?)\*\/|^[ \t]*\/\/ ?(.*(?:\n[ \t]*\/\/.*)*)/gm;

function commentsOf(file: string): readonly Prose[] {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(comments)].map(({ 0: whole, 1: block = whole, index }) => ({
    place: placeOf(file, source, index),
    text: plain(block.replace(/^\s*(\*|\/\/)\s?/gm, ' ')),
  }));
}

function paragraphsOf(file: string): readonly Prose[] {
  const source = readFileSync(file, 'utf8');
  const withoutCode = source.replace(/```[\s\S]*?```/g, (block) => block.replace(/[^\n]/g, ' '));
  return [...withoutCode.matchAll(/(?:^(?![ \t]*$).*\n?)+/gm)].flatMap(({ 0: paragraph, index }) =>
    paragraph.split(/\n(?=\s*[-|#\d])/).map((text) => ({
      place: placeOf(file, source, index),
      text: plain(text.replace(/^[\s#>*\-|]+/, '').replaceAll('|', ' ')),
    })),
  );
}

const placeOf = (file: string, source: string, index: number): string => `${file}:${source.slice(0, index).split('\n').length}`;

const plain = (text: string): string =>
  text
    .replace(/`[^`]*`/g, 'X')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
