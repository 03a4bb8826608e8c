import assert from 'node:assert/strict';
import test from 'node:test';
import type { AppRule } from '../../../lib/index.ts';
import { cel, DefinitionError, defineApp, defineRule, greaterThan, text } from '../../../lib/index.ts';
import { agent, buyOf, Declined } from '../../support/rules.ts';

const buy = buyOf(1);
const appWith = (...rules: readonly AppRule[]) => defineApp({ workflows: [buy], agents: [agent], rules });
const declined = { kind: 'exception', type: Declined } as const;

test('F-129: an app declares rules beside its workflows, as plain data with their defaults', () => {
  const big = defineRule('big', {
    name: 'A big order whose card is declined',
    workflow: buy,
    step: 'order/charge',
    event: declined,
    condition: ({ order, outputs, exception }) =>
      cel`${greaterThan(order.total, 100)} && ${exception.attempt} < 3.0 && !has(${outputs('ship')})`,
    action: ({ order }) => ({ kind: 'task', group: 'claims', text: text`Call ${order.customer.id}` }),
    mode: 'enforce',
  });
  assert.deepEqual(appWith(big).rules, [
    {
      id: 'big',
      origin: 'app',
      version: 1,
      name: 'A big order whose card is declined',
      object: { workflow: 'buy', step: 'order/charge' },
      event: { kind: 'exception', type: 'Declined' },
      condition: '(order.total > 100) && exception.attempt < 3.0 && !has(outputs.ship)',
      action: { kind: 'task', group: 'claims', text: { $cel: '"Call " + string(order.customer.id)' } },
      mode: 'enforce',
      priority: 0,
      timesPerOrder: 3,
    },
  ]);
});

/** The message of a definition error. */
function messageOf(define: () => unknown): string {
  try {
    define();
  } catch (error) {
    assert.ok(error instanceof DefinitionError);
    return error.message;
  }
  return 'no error';
}

test('F-140: an app is refused if a rule does not fit its workflows, with the file and the line of the rule', () => {
  const wrong = defineRule('wrong', {
    name: 'Wrong',
    workflow: buy,
    event: declined,
    condition: () => cel`order.totl > 5.0`,
    action: { kind: 'suspend' },
    mode: 'off',
  });
  const message = messageOf(() => appWith(wrong, wrong));
  assert.match(
    message,
    /^rule wrong \/condition: order has no field "totl"\. Did you mean "total"\?\n {2}at test\/core\/rules\/define-rule\.test\.ts:\d+:\d+$/m,
  );
  assert.match(message, /Two rules have the id "wrong"\./);
});

test('a rule with a field of a wrong form is refused where it is defined', () => {
  const options = { name: 'Wrong', event: declined, action: { kind: 'suspend' }, mode: 'on' } as unknown as Parameters<
    typeof defineRule
  >[1];
  assert.match(
    messageOf(() => defineRule('form', options)),
    /^rule form \/mode: .*\n {2}at test\/core\/rules\/define-rule\.test\.ts/,
  );
});
