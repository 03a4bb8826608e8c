import assert from 'node:assert/strict';
import test from 'node:test';
import { type Fault, operatorAsked } from '#core/data/fault';
import { programOf } from '#core/definition/program';
import { exceptionFingerprint } from '#core/exceptions/fingerprint';
import { isJudged, judge, judgedAs, judgeEnd, type Verdict, type Watch } from '#core/exceptions/verdict';
import { buyOf } from '../support/rules.ts';

const program = programOf(buyOf(1));
const faultOf = (type: string): Fault => ({ type, class: 'expected', permanent: true, message: 'no' });
const fingerprint = exceptionFingerprint({ workflow: 'buy', path: 'order/charge', fault: faultOf('Declined') });

const blocked = (path: string, type = 'Declined') => ({ type: 'OrderBlocked', path, fault: faultOf(type) });
const closed = (path: string, result = 'Succeeded') => ({ type: 'ActivityClosed', path, result });
const requested = (path: string) => ({ type: 'StepRequested', path });
const begun = (path: string) => ({ type: 'ActivityStarted', path });
const ended = (outcome: string) => ({ type: 'OrderProcessed', outcome });
const given = (kind: string) => ({ type: 'InstructionGiven', kind });
const stuck = { type: 'UndoFailed', path: 'order/charge/undo', stuck: true };

type Line = { readonly type: string; readonly [field: string]: unknown };
type Row = readonly [readonly string[], readonly Line[], Verdict | 'running'];
const table: readonly Row[] = [
  [['retry', 'resubmit', 'replace-input', 'amend', 'migrate', 'restart'], [requested('order/charge'), closed('order/charge')], 'passed'],
  [['retry', 'resubmit', 'replace-input'], [requested('order/charge'), closed('order/ship')], 'running'],
  [['retry', 'resubmit', 'replace-input'], [blocked('order/charge')], 'failed-again'],
  [['retry', 'resubmit'], [blocked('order/charge', 'BankClosed')], 'failed-otherwise'],
  [['retry', 'resubmit'], [blocked('order/ship')], 'failed-otherwise'],
  [['retry', 'resubmit'], [blocked('order/papers', operatorAsked)], 'running'],
  [['retry', 'resubmit'], [closed('order/charge', 'Faulted')], 'failed-otherwise'],
  [['retry', 'resubmit'], [ended('completed')], 'passed'],
  [['retry', 'resubmit'], [ended('compensated')], 'failed-otherwise'],
  [['retry', 'resubmit', 'skip', 'compensate'], [given('terminate'), ended('terminated')], 'void'],
  [['retry'], [{ type: 'RuleActed', ruleId: 'old', action: { kind: 'compensate' } }, ended('compensated')], 'void'],
  [['retry'], [{ type: 'RuleActed', ruleId: 'old', action: { kind: 'recover' } }, ended('compensated')], 'void'],
  [['retry'], [{ type: 'RuleActed', ruleId: 'old', action: { kind: 'recover', path: 'order/charge' } }, closed('order/charge')], 'passed'],
  [['retry'], [{ type: 'ActivitySkipped', path: 'order/charge', effect: 'none' }, closed('order/charge')], 'void'],
  [['skip'], [closed('order/charge'), begun('order/papers')], 'running'],
  [['skip'], [closed('order/charge'), begun('order/papers'), closed('order/papers')], 'passed'],
  [['skip'], [closed('order/charge'), begun('order/papers'), blocked('order/ship')], 'failed-again'],
  [['skip'], [closed('order/charge'), begun('order/papers'), blocked('order/papers')], 'failed-otherwise'],
  [['skip'], [closed('order/charge'), ended('compensated')], 'passed'],
  [['resume-at'], [requested('order/charge/undo'), closed('order/charge/undo', 'Compensated'), requested('order/charge')], 'running'],
  [['resume-at'], [requested('order/charge/undo'), requested('order/charge'), closed('order/charge')], 'passed'],
  [['resume-at'], [begun('order'), requested('order/charge'), blocked('order/papers', 'BankClosed')], 'failed-again'],
  [['compensate', 'cancel'], [ended('compensated')], 'passed'],
  [['compensate', 'cancel'], [{ ...stuck, stuck: false }], 'running'],
  [['compensate', 'cancel'], [stuck], 'failed-again'],
  [['compensate', 'cancel'], [blocked('order/charge')], 'failed-otherwise'],
  [['compensate-scope'], [closed('order/charge')], 'passed'],
  [['compensate-scope'], [stuck], 'failed-again'],
  [['compensate-scope'], [blocked('order/papers')], 'failed-otherwise'],
  [['compensate-scope'], [given('compensate'), ended('compensated')], 'void'],
];

const linesOf = (facts: readonly Line[]): string =>
  facts
    .map(({ type, path, result, outcome, kind, fault }) =>
      [type, path, result, outcome, kind, (fault as Fault | undefined)?.type].filter(Boolean).join(' '),
    )
    .join(', ');

const verdictOf = (watch: Watch, facts: Row[1]): Verdict | 'running' => {
  const found = judge(program, watch, facts);
  return typeof found === 'string' ? found : 'running';
};

for (const [kinds, facts, wanted] of table)
  for (const kind of kinds)
    test(`an order after ${kind} whose next lines are ${linesOf(facts)}: ${wanted}`, () => {
      assert.equal(verdictOf({ kind, path: 'order/charge', fingerprint }, facts), wanted);
    });

test('F-164: the verdict is `failed-again` if the reported exception comes again, although it blocks the order at its root', () => {
  const again = { type: 'OrderBlocked', path: 'order', fault: { ...faultOf('Declined'), source: 'order/charge' } };
  assert.equal(verdictOf({ kind: 'resubmit', path: 'order/charge', fingerprint }, [again]), 'failed-again');
});

test('a verdict is the same whether the facts come in one part or one by one', () => {
  for (const [kinds, facts, wanted] of table) {
    let watch: Watch | Verdict = { kind: kinds[0] ?? '', path: 'order/charge', fingerprint };
    for (const fact of facts) if (typeof watch !== 'string') watch = judge(program, watch, [fact]);
    assert.equal(typeof watch === 'string' ? watch : 'running', wanted);
  }
});

test('S36: the verdict on an order with a lost journal is `passed` if the order ended as the action aims', () => {
  const ends = ['completed', 'compensated', 'rejected', 'canceled', 'terminated'] as const;
  const verdictsOf = (kind: string) => ends.map((outcome) => judgeEnd({ kind }, outcome));
  const otherwise = 'failed-otherwise';
  assert.deepEqual(verdictsOf('resubmit'), ['passed', otherwise, otherwise, otherwise, 'void']);
  assert.deepEqual(verdictsOf('compensate'), [otherwise, 'passed', otherwise, 'passed', 'void']);
  assert.deepEqual(verdictsOf('skip'), ['passed', 'passed', 'passed', 'passed', 'void']);
  assert.deepEqual(verdictsOf('handle'), [undefined, undefined, undefined, undefined, undefined]);
});

test('instructions such as terminate, mark-compensated and suspend, and actions that call a person, have no verdict', () => {
  for (const kind of ['terminate', 'mark-compensated', 'suspend', 'acknowledge', 'recover', 'announce', 'task', 'raise', 'signal'])
    assert.equal(isJudged(kind), false, kind);
});

test('F-133: a rule that recovers a whole order has the verdict of compensate, and a rule that recovers an activity has the verdict of resume-at', () => {
  assert.deepEqual([{ kind: 'recover' }, { kind: 'recover', path: 'order/charge' }, { kind: 'retry' }].map(judgedAs), [
    'compensate',
    'resume-at',
    'retry',
  ]);
});
