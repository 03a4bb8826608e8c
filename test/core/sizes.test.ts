import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type Json, utf8Bytes } from '../../lib/core/json.ts';
import { Sizes } from '../../lib/core/sizes.ts';

test('the size of a value is what its JSON has in bytes, however often it was measured before', () => {
  const sizes = new Sizes();
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.deepEqual([sizes.of(value), sizes.of(value)], [utf8Bytes(value as Json), utf8Bytes(value as Json)]);
      const grown = [value];
      sizes.around(grown);
      grown.push(value);
      assert.equal(sizes.around(grown), utf8Bytes(grown as Json));
    }),
  );
  assert.equal(sizes.of({ a: undefined, b: [undefined] }), '{"b":[null]}'.length);
});
