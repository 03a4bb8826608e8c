import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';

/** Splits a command line as a shell does, with single quotes alone. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);

/** Replaces times and durations, which differ from run to run. The same lengths keep the tables as they were printed. */
export const withoutTimes = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, '2026-03-02T09:00:00Z')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+\.\d+Z/g, '2026-03-02T09:00:00.000Z')
    .replaceAll(/\b\d+(\.\d)? s\b(?! after)/g, '0.1 s')
    .replaceAll(/\b[\d.]+ s after/g, '10 s after')
    .replaceAll(/[ ]+$/gm, '')
    .trim();

/** Letters of the base32 alphabet that stand for an id: as long as one, and another one for each number. */
export const standInFor = (number: number): string => {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  return (alphabet.slice(number) + alphabet.repeat(2)).slice(0, 52);
};

/**
 * Plays the commands of a chapter of a page, or of the whole page, and compares what they print. `run` gets a line that begins with `$ `
 * and what the page prints below it, and resolves to what the command prints. `UPDATE_TRANSCRIPTS=1` writes that into the page.
 */
export async function playTranscripts(
  page: URL,
  chapter: string | undefined,
  run: (line: string, told: string) => Promise<string>,
): Promise<void> {
  const text = readFileSync(page, 'utf8');
  const start = chapter === undefined ? 0 : text.indexOf(`## ${chapter}\n`);
  assert.ok(start >= 0, `${page.pathname} has no chapter ${chapter}`);
  const end = chapter === undefined ? -1 : text.indexOf('\n## ', start);
  const told = text.slice(start, end < 0 ? undefined : end);
  let played = told;
  for (const [transcript] of told.matchAll(/(?<=```console\n)[\s\S]*?(?=```)/g)) {
    const prints: string[] = [];
    for (const [, line = '', below = ''] of transcript.matchAll(/^(\$ .*)\n((?:(?!\$ ).*\n)*)/gm)) {
      const print = await run(line, below.trim());
      prints.push(print === '' ? `${line}\n` : `${line}\n${print}\n`);
    }
    played = played.replace(transcript, () => prints.join(''));
  }
  if (process.env['UPDATE_TRANSCRIPTS'])
    writeFileSync(
      page,
      text.replace(told, () => played),
    );
  else assert.equal(told, played);
}
