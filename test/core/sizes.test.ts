import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type Json, utf8Bytes } from '#core/data/json';
import { initialState } from '#core/data/state';
import { Sizes } from '#core/engine/value-sizes';

test('the size of a value is the number of bytes of its JSON, also when it was measured before', () => {
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

test('F-63: the size of a state is the number of bytes of its JSON', () => {
  const state = { ...initialState, phase: 'running' as const, activities: { 'order/Größe': { status: 'Executing' as const } } };
  for (const each of [state, initialState]) assert.equal(new Sizes().ofState(each), utf8Bytes(each as unknown as Json));
});
