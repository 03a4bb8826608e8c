import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { classic, further } from '../../dev/verify/mutants/index.ts';
import { type Mutant, mutated } from '../../dev/verify/mutants/mutant.ts';

const all = [...classic, ...further];
const textOf = ({ file }: Mutant): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

describe('G4: mutants of one line, which test the laws', () => {
  test('44 mutants are classic, others are not, and each has its own name', () => {
    assert.equal(classic.length, 44);
    assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
  });

  test('the text that each mutant replaces is in the code, and its replacement differs', () => {
    for (const mutant of all) {
      const text = textOf(mutant);
      assert.notEqual(mutated(mutant, text), text, mutant.name);
    }
  });

  test('a mutant whose text is in no place or in two places is refused by name', () => {
    const mutant: Mutant = { name: 'slip', why: '', file: 'lib/x.ts', find: 'a > b', replace: 'a >= b' };
    assert.equal(mutated(mutant, 'if (a > b)'), 'if (a >= b)');
    for (const text of ['if (a < b)', 'if (a > b || a > b)'])
      assert.throws(() => mutated(mutant, text), /"slip" no longer fits lib\/x\.ts/);
  });
});
