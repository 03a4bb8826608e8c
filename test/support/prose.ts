import { globSync, readFileSync, statSync } from 'node:fs';

/** A comment, a paragraph of a document or a test title, in one line; code in backticks is `X`. */
export interface Prose {
  /** `lib/core/advance.ts:30` */
  readonly place: string;
  readonly text: string;
}

/** Requirements in the words of their sources, a page that the simulation writes, and installed packages. */
const foreign = /(^|\/)(coverage|requirements)\.md$|(^|\/)node_modules\//;

/** Returns all prose of files and folders: comments of code, paragraphs of Markdown. */
export const proseOf = (paths: readonly string[]): readonly Prose[] =>
  filesIn(paths, 'ts,tsx,js,mjs,md').flatMap((file) => (file.endsWith('.md') ? paragraphsOf(file) : commentsOf(file)));

/** Returns all test titles, without the ids that they cite; titles of scenarios count as well. */
export const titlesOf = (paths: readonly string[]): readonly Prose[] => [
  ...filesIn(paths, 'ts').flatMap((file) => matchesIn(file, /\b(?:test|it|describe|scenario)\(\s*(['"`])((?:(?!\1)[\s\S])*)\1/g)),
  ...filesIn(paths, 'txt').flatMap((file) => matchesIn(file, /^(#) (.*)$/gm)),
];

/** Splits prose into sentences. */
export const sentencesOf = (text: string): readonly string[] =>
  text.split(/(?<=[.!?])\s+(?=[A-Z("'])/).filter((sentence) => /\w+ \w+/.test(sentence));

const participle =
  '\\w+ed|begun|brought|built|chosen|cut|done|drawn|driven|forgotten|found|given|gone|held|hidden|kept|known|left|lost|made|met|paid|put|read|said|seen|sent|set|shown|spent|split|taken|thrown|undone|won|written';
const passive = new RegExp(
  `\\b(?:is|are|was|were|be|been|being)\\s+(?:(?!by\\b)\\w+ly\\s+|not\\s+|never\\s+|also\\s+)?(?:${participle})\\b(?!\\s+by\\b)`,
);

/** Whether a sentence probably uses the passive voice without its actor. */
export const isPassive = (sentence: string): boolean => passive.test(sentence);

const filesIn = (paths: readonly string[], types: string): readonly string[] =>
  paths
    .flatMap((path) =>
      statSync(path).isDirectory() ? globSync(`${path}/**/*.{${types},}`, { exclude: (name) => name === 'node_modules' }) : [path],
    )
    .filter((file) => new RegExp(`\\.(${types.replaceAll(',', '|')})$`).test(file) && !foreign.test(file));

const matchesIn = (file: string, title: RegExp): readonly Prose[] => {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(title)].map(({ 2: text = '', index }) => ({
    place: placeOf(file, source, index),
    text: titleWithoutIds(text),
  }));
};

const titleWithoutIds = (title: string): string =>
  plain(title.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, 'X').replace(/^(?:(?:F-\d+|X-\d+|[SLG]\d+|Signals)[\s,:]*)+/, ''));

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
    paragraph
      .split(/\n(?=\s*[-|#\d])/)
      .flatMap((text) => (text.startsWith('|') ? text.split('|') : [text]))
      .map((text) => ({ place: placeOf(file, source, index), text: plain(text.replace(/^[\s#>*\-|]+/, '')) })),
  );
}

const placeOf = (file: string, source: string, index: number): string => `${file}:${source.slice(0, index).split('\n').length}`;

const plain = (text: string): string =>
  text
    .replace(/`[^`]*`/g, 'X')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
