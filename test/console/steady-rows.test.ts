import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { steadied } from '../../console/api/steadied.ts';

/** Shows the rows of a list, each a letter: those before, and those that have come. */
const shown = (before: string, come: string, goesOn = false) => {
  const { items, waiting, isReordered } = steadied([...before], [...come], { keyOf: (row) => row, goesOn });
  return [items.join(''), waiting, isReordered];
};

describe('the rows of a list that a person looks at', () => {
  test('new rows above or between the shown rows are counted but not shown, so no shown row moves', () => {
    assert.deepEqual(shown('cd', 'abcd'), ['cd', 2, false]);
    assert.deepEqual(shown('cd', 'cxd'), ['cd', 1, false]);
  });

  test('new rows at the end are shown, because they move no other row', () => {
    assert.deepEqual(shown('cd', 'cde'), ['cde', 0, false]);
    assert.deepEqual(shown('', 'ab'), ['ab', 0, false]);
  });

  test('a row that has left the list disappears, and the next row appears at the end', () => {
    assert.deepEqual(shown('abc', 'acd', true), ['acd', 0, false]);
    assert.deepEqual(shown('abc', 'ab'), ['ab', 0, false]);
  });

  test('rows that no longer fit the page stay, because the list continues after the page', () => {
    assert.deepEqual(shown('abc', 'xab', true), ['abc', 1, false]);
    assert.deepEqual(shown('abc', 'xyz', true), ['abc', 3, false]);
    assert.deepEqual(shown('abc', ''), ['', 0, false]);
  });

  test('rows whose sequence changes keep their places until the person sorts them again', () => {
    assert.deepEqual(shown('abc', 'cab'), ['abc', 0, true]);
  });
});
