import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isProgrammingError, reasonOf } from '#core/data/thrown';

test('the reason of an error has its name, its message and its causes, each of them once', () => {
  const refused = Object.assign(new AggregateError([new Error('connect ECONNREFUSED ::1:4000')], ''), { code: 'ECONNREFUSED' });
  for (const [error, reason] of [
    [new TypeError('x is not a function'), 'TypeError: x is not a function'],
    [new Error('socket hang up'), 'socket hang up'],
    [new TypeError('fetch failed', { cause: refused }), 'fetch failed: connect ECONNREFUSED ::1:4000'],
    [new Error('No rates (connect ECONNREFUSED)', { cause: new Error('connect ECONNREFUSED') }), 'No rates (connect ECONNREFUSED)'],
    [Object.assign(new Error(''), { code: 'EPIPE' }), 'EPIPE'],
    [new Error(''), 'It threw an error without a message.'],
    ['a text', 'a text'],
    [undefined, 'undefined'],
    [Object.create(null), '[object Object]'],
  ] as const)
    assert.equal(reasonOf(error), reason);
});

test('an error that is its own cause has a reason, and so has one with many causes', () => {
  const own = new TypeError('round');
  own.cause = own;
  assert.equal(reasonOf(own), 'TypeError: round');
  assert.equal(isProgrammingError(own), true);
});

test('an error is a programming error only if every error in its chain of causes is one', () => {
  const slip = new TypeError('x is undefined');
  assert.equal(isProgrammingError(new RangeError('no such page', { cause: slip })), true);
  assert.equal(isProgrammingError(new TypeError('terminated', { cause: new Error('other side closed') })), false);
  assert.equal(isProgrammingError(Object.assign(new TypeError('no'), { $metadata: {} })), false);
  assert.equal(isProgrammingError(new Error('no', { cause: slip })), false);
});
