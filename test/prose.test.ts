import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proseOf, sentencesOf } from './support/prose.ts';

/** Phrases that the style guide bans, with their replacements (docs/style.md). */
const replacements: readonly (readonly [banned: RegExp, instead: string])[] = [
  [/\baskings?\b/i, 'request, attempt'],
  [/\banew\b/i, 'again'],
  [/\bin vain\b/i, 'without effect'],
  [/\bwhoever\b/i, 'the part of the system, or the person'],
  [/\bset aside\b/i, 'dead-lettered'],
  [/\bputs? back\b/i, 'requeue'],
  [/\b(winds?|winding|wound) up\b/i, 'close'],
  [/\bgood weather\b/i, 'a healthy system'],
  [/\bnot to be had\b/i, 'unavailable'],
  [/\b(is|are|was|were) told\b/i, 'the system notifies …'],
  [/\bis wanted\b/i, 'the client needs'],
  [/\bfor ever\b/i, 'forever, without a limit'],
  [/\bas ever\b/i, 'as before'],
  [/\bhimself\b/i, 'itself, the operator'],
];

/** Sentences begin with their subject: a part of the system, or a person. */
const notASubject = /^(What|Who|Whoever|Whose|Whom|Where|Of|By|Nobody)\b/;

const places = {
  'lib and its comments': ['lib'],
  'documents for users': ['README.md', 'CHANGELOG.md', 'docs/guides', 'docs/concepts', 'docs/reference', 'docs/style.md'],
} as const;

for (const [what, folders] of Object.entries(places)) {
  const texts = proseOf(folders);

  test(`${what}: no phrase is banned by the style guide`, () => {
    const found = texts.flatMap(({ place, text }) =>
      replacements.flatMap(([banned, instead]) => (banned.test(text) ? [`${place}: "${banned.exec(text)?.[0]}", write: ${instead}`] : [])),
    );
    assert.deepEqual(found, []);
  });

  test(`${what}: sentences begin with their subject, and are short`, () => {
    const sentences = texts.flatMap(({ place, text }) => sentencesOf(text).map((sentence) => ({ place, sentence })));
    assert.ok(sentences.length > 500, `${sentences.length} sentences`);
    const wrong = sentences.filter(({ sentence }) => notASubject.test(sentence)).map(({ place, sentence }) => `${place}: ${sentence}`);
    assert.ok(wrong.length < 0.02 * sentences.length, wrong.join('\n'));
    const words = sentences.reduce((sum, { sentence }) => sum + sentence.split(' ').length, 0);
    assert.ok(words / sentences.length <= 16, `${(words / sentences.length).toFixed(1)} words in a sentence`);
  });
}
