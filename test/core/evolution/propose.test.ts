import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { check } from '#core/checks/check';
import type { JsonObject } from '#core/data/json';
import { programOf } from '#core/definition/program';
import { type Orders, type Proposal, propose } from '#core/evolution/propose';
import { type Resolved, waysOf } from '#core/evolution/ways';
import { parcelDefinitions, parcelProgram } from '../../roles/evolution/shop.ts';

const cluster = { step: 'order/label', type: 'NoPrinter' };
const skip = { kind: 'skip', output: {}, effect: 'none' };
const again = { kind: 'resubmit' };
const noOrders: Orders = { failed: [], good: [] };
const about = { program: parcelProgram, catalog: parcelDefinitions.catalog };

/** Uses of one instruction, of which the first ones passed. Each waited so many seconds for a person. */
const uses = (instruction: JsonObject, count: number, passed: number, waits: readonly number[] = [30]): readonly Resolved[] =>
  Array.from({ length: count }, (_, index) => ({
    orderId: `${instruction['kind']}-${index}`,
    instruction,
    verified: index < passed ? 'passed' : 'failed-again',
    waitedMs: 1000 * (waits[index % waits.length] as number),
  }));

const proposed = (resolved: readonly Resolved[], orders = noOrders, of = cluster) => propose(of, waysOf(resolved), about, orders);

function proposal(resolved: readonly Resolved[], orders = noOrders): Proposal {
  const found = proposed(resolved, orders);
  assert.ok(found.ok, found.ok ? '' : found.why);
  assert.deepEqual(
    check(found.proposal.definition, parcelDefinitions.catalog).filter(({ severity }) => severity === 'error'),
    [],
  );
  assert.equal(found.proposal.definition.version, parcelProgram.definition.version + 1);
  return found.proposal;
}

const why = (...given: Parameters<typeof proposed>): string => {
  const found = proposed(...given);
  return found.ok ? `a proposal: ${found.proposal.code}` : found.why;
};

describe('a proposal about alike exceptions', () => {
  test('F-161: needs at least five verified uses, of which 80 % passed', () => {
    assert.match(why(uses(skip, 4, 4)), /needs 5 verified uses of one instruction, of which 80 % passed; of 4 uses of skip, 4 passed\./);
    assert.match(why(uses(skip, 10, 7)), /of 10 uses of skip, 7 passed\./);
    assert.match(why([]), /there is no use yet/);
    assert.equal(proposal(uses(skip, 5, 4)).way.used, 5);
    assert.equal(proposal(uses(skip, 10, 8)).way.passed, 8);
  });

  test('F-161: does what most people did, even if an instruction that few people gave has always passed', () => {
    assert.equal(proposal([...uses(skip, 20, 17), ...uses({ kind: 'cancel' }, 6, 6)]).way.instruction.kind, 'skip');
    assert.match(why([...uses(skip, 20, 15), ...uses({ kind: 'cancel' }, 6, 6)]), /of 20 uses of skip, 15 passed/);
    assert.match(why([...uses(skip, 4, 4), ...uses({ ...skip, output: { by: 'hand' } }, 4, 4)]), /of 4 uses of skip, 4 passed/);
  });

  test('W-20: is a retry if people resubmitted; its interval is the time within which four in five of them did so', () => {
    const { kind, code, after } = proposal(uses(again, 10, 10, [5, 10, 20, 40, 900]));
    assert.equal(kind, 'retry');
    assert.partialDeepStrictEqual(after, { activity: 'retry', retries: 1, intervalSeconds: 40, only: ['NoPrinter'] });
    assert.equal(code, "retry(label, { retries: 1, intervalSeconds: 40, only: [NoPrinter] }).named('label-again')");
    const twice = uses(again, 10, 10).map((use) => ({ ...use, orderId: `${Number(use.orderId.at(-1)) % 5}` }));
    assert.partialDeepStrictEqual(proposal(twice).after, { retries: 2 });
  });

  test('W-20: is a handler that continues after the step if people skipped it, and a handler that undoes the order if they undid it', () => {
    const skipped = proposal(uses(skip, 5, 5));
    assert.deepEqual([skipped.kind, skipped.path], ['handler', 'order/label']);
    assert.match(skipped.diff.join('\n'), /^\+ .*"activity": "scope"/m);
    assert.equal(
      skipped.diff.some((line) => line.startsWith('- ')),
      false,
      'the step itself stays as it is',
    );
    for (const kind of ['compensate', 'cancel']) {
      const undone = proposal(uses({ kind }, 5, 5));
      assert.deepEqual([undone.kind, undone.path, undone.alsoTakes], ['handler', 'order', []]);
      assert.partialDeepStrictEqual(undone.definition.root.faultHandlers, [{ fault: 'NoPrinter', do: { activity: 'compensate' } }]);
    }
  });

  test('W-20: is a condition before the step if one field separates the failing orders from all others', () => {
    const bodies = (count: number, body: JsonObject) => Array.from({ length: count }, (_, kilos) => ({ ...body, kilos }));
    const [south, north] = [bodies(5, { depot: 'south' }), bodies(5, { depot: 'north' })];
    const { kind, after, code } = proposal(uses(skip, 5, 5), { failed: south, good: north });
    assert.equal(kind, 'if');
    assert.partialDeepStrictEqual(after, { activity: 'choice', branches: [{ when: { $cel: 'order.depot != "south"' } }] });
    assert.equal(code, `ifTrue(not(equals(order.depot, "south")), label).named('label-if-depot')`);
    const mixed = { failed: south, good: [...north, ...bodies(1, { depot: 'south' })] };
    assert.equal(proposal(uses(skip, 5, 5), mixed).kind, 'handler', 'one order of the south went well');
    assert.equal(proposal(uses(skip, 5, 5), { failed: south, good: north.slice(1) }).kind, 'handler', 'four orders are few');
  });

  test('W-20: never has the value of a secret field in a condition', () => {
    const marked = { type: 'object', properties: { depot: { type: 'string', secret: true }, kilos: { type: 'integer' } } } as const;
    const program = programOf({ ...parcelProgram.definition, order: marked });
    const bodies = (depot: string) => Array.from({ length: 5 }, (_, kilos) => ({ depot, kilos }));
    const orders = { failed: bodies('south'), good: bodies('north') };
    const found = propose(cluster, waysOf(uses(skip, 5, 5)), { ...about, program }, orders);
    assert.equal(JSON.stringify(found).includes('south'), false);
  });

  test('F-161: is absent where the changed definition would not type-check: a later step reads the output of the skipped one', () => {
    const { definition } = parcelProgram;
    const reader = { $cel: 'steps.label' };
    const children = definition.root.activity === 'sequence' ? definition.root.children : [];
    const root = { ...definition.root, children: children.map((each) => (each.name === 'send' ? { ...each, input: reader } : each)) };
    const program = programOf({ ...definition, root: root as typeof definition.root });
    const found = propose(cluster, waysOf(uses(skip, 5, 5)), { ...about, program }, noOrders);
    assert.match(found.ok ? found.proposal.code : found.why, /^The changed definition would not type-check: /);
  });

  test('F-161: is absent where no definition can do what people did, and the answer says why', () => {
    assert.match(why(uses({ ...skip, effect: 'done' }, 5, 5)), /by hand/);
    assert.match(why(uses({ kind: 'replace-input', input: {} }, 5, 5)), /replace-input/);
    assert.match(why(uses(again, 5, 5), noOrders, { step: 'order/gone', type: 'NoPrinter' }), /no activity at order\/gone/);
    assert.match(why(uses(again, 5, 5), noOrders, { step: 'order/label', type: 'DeadlineExceeded' }), /onExhausted: 'fault'/);
    assert.match(why(uses(again, 5, 5), noOrders, { step: 'order/pack/undo', type: 'Broken' }), /An undo is repeated/);
  });
});
