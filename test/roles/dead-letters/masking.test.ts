import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '#core/data/json';
import { withSecrets } from '#roles/dead-letters/redact';

const original = { payer: { name: 'Ann', card: 'tok_1' }, cards: [{ card: 'tok_2' }, { card: 'tok_3' }], note: 'pays with tok_1', tip: 0 };
const shown = {
  payer: { name: 'Ann', card: '[secret]' },
  cards: [{ card: '[secret]' }, { card: '[secret]' }],
  note: 'pays with [secret]',
  tip: 0,
};
const restored = (edited: Json) => withSecrets(edited, shown, original);

test('in an edited dead letter, a masked secret is restored where the fields around it are unchanged, and every edit stays', () => {
  assert.deepEqual(restored(shown), { value: original, problems: [] });
  const edited = { ...shown, payer: { name: 'Bob', card: '[secret]' }, tip: 5, colour: 'red' };
  const value = { ...original, payer: { name: 'Bob', card: 'tok_1' }, tip: 5, colour: 'red' };
  assert.deepEqual(restored(edited), { value, problems: [] });
  assert.deepEqual(restored({ ...shown, cards: [{ card: 'mine' }], note: 'no card' }).value, {
    ...original,
    cards: [{ card: 'mine' }],
    note: 'no card',
  });
});

test('when it is unclear for which secret a mask in an edited dead letter stands, the operator must enter the secret', () => {
  const problemsAt = (edited: Json) => restored(edited).problems.map(({ pointer, code }) => `${pointer} ${code}`);
  assert.deepEqual(problemsAt({ ...shown, cards: shown.cards.slice(1) }), ['/body/cards masked']);
  assert.deepEqual(problemsAt({ ...shown, note: 'paid with [secret]' }), ['/body/note masked']);
  assert.deepEqual(problemsAt({ ...shown, tip: '[secret]', 'a/b': ['[secret]'] }), ['/body/tip masked', '/body/a~1b masked']);
  assert.deepEqual(problemsAt('[secret]'), ['/body masked']);
});
