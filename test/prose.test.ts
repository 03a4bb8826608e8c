import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPassive, type Prose, proseOf, sentencesOf, titlesOf } from './support/prose.ts';

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
  'documents for operators and maintainers': ['CONTRIBUTING.md', 'docs/README.md', 'docs/operations', 'docs/internals', 'docs/decisions'],
  'comments of tools, examples and functions': ['dev', 'examples', 'functions', 'bin'],
  'comments of tests': ['test'],
} as const;

for (const [what, folders] of Object.entries(places)) {
  const texts = proseOf(folders);

  test(`${what}: no phrase is one that the style guide bans`, () => assert.deepEqual(texts.flatMap(bannedIn), []));

  test(`${what}: sentences begin with their subject, and are short`, (context) => {
    const sentences = texts.flatMap(({ place, text }) => sentencesOf(text).map((sentence) => ({ place, text: sentence })));
    assert.ok(sentences.length > 500, `${sentences.length} sentences`);
    const wrong = sentences.filter(({ text }) => notASubject.test(text)).map(({ place, text }) => `${place}: ${text}`);
    assert.ok(wrong.length < 0.02 * sentences.length, wrong.join('\n'));
    assertShort(sentences);
    const share = sentences.filter(({ text }) => isPassive(text)).length / sentences.length;
    context.diagnostic(`passive sentences without an actor: about ${(100 * share).toFixed(1)} % of ${sentences.length}`);
  });
}

test('a comment begins with the thing that it is about, not with a question', () => {
  const question = /^(What|Who|Whose|Where|Why|How|Which)\b(?!.*\?$)/;
  const texts = proseOf(['lib', 'console', 'functions', 'examples', 'bin', 'dev', 'test']).filter(({ place }) => !place.includes('.md:'));
  assert.deepEqual(
    texts.filter(({ text }) => question.test(text)).map(({ text, place }) => `${place}: ${text}`),
    [],
  );
});

test('each test title begins with its subject, has no banned phrase and is short', () => {
  const titles = titlesOf(['test', 'examples']);
  assert.ok(titles.length > 2000, `${titles.length} titles`);
  const startsWrong = ({ text }: Prose) => notASubject.test(text.charAt(0).toUpperCase() + text.slice(1));
  assert.deepEqual(
    titles.filter(startsWrong).map(({ place, text }) => `${place}: ${text}`),
    [],
  );
  assert.deepEqual(titles.flatMap(bannedIn), []);
  assertShort(titles);
});

function bannedIn({ place, text }: Prose): readonly string[] {
  return replacements.flatMap(([banned, instead]) =>
    banned.test(text) ? [`${place}: "${banned.exec(text)?.[0]}", write: ${instead}`] : [],
  );
}

function assertShort(sentences: readonly Prose[]): void {
  const words = sentences.reduce((sum, { text }) => sum + text.split(' ').length, 0);
  assert.ok(words / sentences.length <= 16, `${(words / sentences.length).toFixed(1)} words in a sentence`);
}
