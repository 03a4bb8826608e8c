import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RefusedError, UnreachableError } from '#cli/errors';
import { followOrder } from '#cli/follow';
import type { Api, Call } from '#cli/http';
import { hasWantedEnd } from '#cli/watch';
import { manualClock } from '#ports/clock';

const away = new UnreachableError('http://system', 'connection refused');
const busy = new RefusedError({ title: 'Unavailable', status: 503 }, 5_000);
const answer = (etag: string, processState: string) => ({ status: 200, etag, replayed: false, body: { orderId: 'ord_1', processState } });
const unchanged = { status: 304, etag: undefined, replayed: false, body: undefined };

/** An API that gives these answers in order, and repeats the last one. */
function scripted(...answers: readonly (object | Error)[]): Api & { readonly requested: (string | undefined)[] } {
  const requested: (string | undefined)[] = [];
  const call = async (_method: string, _path: string, { headers }: Call = {}) => {
    requested.push(headers?.['if-none-match']);
    const next = answers[Math.min(requested.length, answers.length) - 1];
    if (next instanceof Error) throw next;
    return next;
  };
  return { url: 'http://system', requested: requested, call: call as Api['call'] };
}

/** Follows an order with an advancing clock until its end. */
async function followed(api: Api) {
  const clock = manualClock();
  const states: string[] = [];
  const lost: string[] = [];
  let over = false;
  const following = followOrder(api, 'ord_1', {
    clock,
    seen: ({ processState }) => void states.push(processState),
    lost: ({ message }) => void lost.push(message),
  });
  following.catch(() => {}).finally(() => void (over = true));
  for (let second = 0; !over && second < 300; second++) await clock.advance(1_000);
  return { states, lost, last: await following };
}

describe('following an order', () => {
  test('reports each state of the order once, and gets a state again only after it has changed', async () => {
    const api = scripted(answer('"1"', 'Processing'), unchanged, unchanged, answer('"2"', 'Processed'));
    const { states, last } = await followed(api);
    assert.deepEqual(states, ['Processing', 'Processed']);
    assert.equal(last?.processState, 'Processed');
    assert.deepEqual(api.requested, [undefined, '"1"', '"1"', '"1"']);
  });

  test('waits while the system restarts or is busy, and prints one message about it', async () => {
    const { states, lost } = await followed(scripted(answer('"1"', 'Processing'), away, away, busy, answer('"2"', 'Error')));
    assert.deepEqual(states, ['Processing', 'Error']);
    assert.equal(lost.length, 1);
  });

  test('ends with an error if the system stays unavailable', async () => {
    await assert.rejects(followed(scripted(answer('"1"', 'Processing'), away)), UnreachableError);
  });

  test('does not wait for a system that has never answered', async () => {
    const api = scripted(away);
    await assert.rejects(followed(api), UnreachableError);
    assert.equal(api.requested.length, 1);
  });

  test('ends with the error if the system refuses a request', async () => {
    await assert.rejects(
      followed(scripted(answer('"1"', 'Processing'), new RefusedError({ title: 'Not found', status: 404 }))),
      RefusedError,
    );
  });
});

test('F-61: an order has ended as wanted if it completed, was canceled, or was terminated by a person', () => {
  const endedBy = { kind: 'terminate', by: 'olga', at: '2026-01-31T12:00:00Z', reason: 'ordered twice' };
  const isWanted = (outcome: string | null, more: object = {}) => hasWantedEnd({ processState: 'Processed', outcome, ...more });
  assert.deepEqual(
    ['completed', 'canceled', 'compensated', 'rejected', 'terminated'].map((outcome) => isWanted(outcome)),
    [true, true, false, false, false],
  );
  assert.deepEqual([isWanted('compensated', { endedBy }), isWanted('terminated', { endedBy })], [true, true]);
  assert.equal(isWanted(null, { processState: 'Error', endedBy }), false, 'its undo has not ended');
});
