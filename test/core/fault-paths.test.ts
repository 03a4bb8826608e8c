import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { StepReply } from '#core/data/event';
import { isQuestion } from '#core/data/fault';
import { definitionPath } from '#core/data/ids';
import type { Json } from '#core/data/json';
import { isObject } from '#core/data/json';
import type { Activity, WorkflowDefinition } from '#core/definition/definition';
import { programOf } from '#core/definition/program';
import { type FaultPath, faultPathOf, faultPathsOf, silence } from '#core/views/fault-paths';
import { type Rehearsal, rehearse } from '#testing/rehearse/index';
import { type Rule, type Stub, stubOf } from '#testing/rehearse/stubs';
import okOrder from '../../examples/orders/samples/ok.json' with { type: 'json' };
import { fulfilOrder } from '../../examples/orders/workflow.ts';
import { definitionOf, faultTypes, roots } from '../support/shapes.ts';
import { delay, sequence, step, workflow } from '../support/workflows.ts';

const failing = (type: string, permanent: boolean): StepReply => ({
  status: 'failed',
  fault: { type, class: 'expected', permanent, message: `the agent reports ${type}` },
});
const always = (path: string, answer: Rule['answer']): Stub =>
  stubOf({ concerns: (request) => request.path === path && request.purpose === 'do', first: 1, last: Infinity, answer });

const isAround = (path: string, inside: string): boolean =>
  path === inside || inside.startsWith(`${path}/`) || inside.startsWith(`${path}[`);

/** Whether the engine handled a fault of one activity as the table says; false if it did not handle it at all. */
function agrees(verdict: FaultPath, { facts: all, outcome, fault: blockedFor }: Rehearsal, source: string): boolean {
  const { fault, end, retries } = verdict;
  const what = `${fault} at ${source}`;
  const isIt = (raised: { readonly type: string; readonly source?: string }) =>
    raised.source === source && (fault === silence || raised.type === fault);
  // An enclosing loop needs no more turns, so this activity is no longer needed.
  if (all.some((fact) => fact.type === 'ActivityClosed' && fact.result === 'Canceled' && isAround(fact.path, source))) return false;
  // An unanswered question blocks it.
  if (blockedFor && isQuestion(blockedFor) && blockedFor.source !== source) return false;
  // An undo whose input cannot be evaluated blocks it too.
  if (all.some((fact) => fact.type === 'UndoFailed')) return false;
  // A fault that its handler raises may cause the same step to run again.
  const last = all.findIndex((fact) => fact.type === 'FaultHandled' && isIt(fact.fault));
  const facts = last < 0 ? all : all.slice(0, last + 1);
  const ran = facts
    .filter((fact) => fact.type === 'RunFailed' && isIt(fact.fault))
    .map(({ path = '' }: { path?: string }) => definitionPath(path));
  const runs = retries.map(({ path, retries: count }, index) => [
    path,
    count * retries.slice(index + 1).reduce((all, outer) => all * (outer.retries + 1), 1),
  ]);
  const counted = Object.entries(Object.groupBy(ran, (path) => path)).map(([path, all = []]) => [path, all.length]);
  assert.deepEqual(counted.toSorted(), runs.filter(([, count]) => count !== 0).toSorted(), `${what}: runs again`);

  const [handled] = facts.filter((fact) => fact.type === 'FaultHandled').filter((fact) => isIt(fact.fault));
  const taken = handled && `${definitionPath(handled.path)}/${handled.handler}`;
  assert.equal(taken, end.kind === 'handled' ? end.handler : undefined, `${what}: handled by`);
  if (end.kind === 'operator') {
    const forIt = verdict.askedAgain ? blockedFor?.source === source : blockedFor && isIt(blockedFor);
    assert.ok(outcome === 'blocked' && forIt, `${what}: blocked, not ${outcome}`);
  }
  if (end.kind === 'waits') assert.equal(outcome, 'stuck', what);
  if (end.kind === 'undone') assert.equal(outcome, 'compensated', what);
  return true;
}

/** Each fault at each requested step, also in handlers that only another fault reaches. */
function compared(definition: WorkflowDefinition, order: Json): ReadonlySet<string> {
  const program = programOf(definition);
  const verdicts = faultPathsOf(definition);
  const seen = new Set<string>();
  const compare = (source: string, isFault: (fault: string) => boolean, rehearsal: Rehearsal) => {
    const verdict = verdicts.find(({ path, fault }) => path === definitionPath(source) && isFault(fault));
    if (!verdict) return;
    if (agrees(verdict, rehearsal, source)) seen.add(`${verdict.path} ${verdict.fault}`);
  };
  const names = new Map([['outcome unknown', 'Engine/InvalidReply']]);
  for (const { step: source, fault, rehearsal } of rehearse.every(definition, order).rows) {
    compare(source, (each) => each === (names.get(fault) ?? fault) || each.endsWith(`/${fault}`), rehearsal);
  }
  const plain = rehearse(definition, order);
  for (const { path } of plain.steps) {
    const busy = rehearse(definition, order, always(path, failing('Engine/ServiceUnavailable', false)));
    compare(path, (each) => each === 'Engine/ServiceUnavailable', busy);
    const broken = rehearse(definition, order, always(path, failing('Engine/ProgrammingError', true)));
    compare(path, (each) => each === 'Engine/ProgrammingError', broken);
  }
  for (const [path, node] of program.nodes) if (node.activity === 'raise') compare(path, (each) => each === node.fault, plain);
  return seen;
}

describe('which handler handles which fault', () => {
  test('F-163: for each step and fault of the sample shop, the fault table of its workflow says what the engine does', () => {
    const seen = compared(fulfilOrder, okOrder.order);
    const other = faultPathsOf(fulfilOrder).filter(({ path, fault }) => !seen.has(`${path} ${fault}`));
    assert.deepEqual(
      other.map(({ path, fault }) => `${path} ${fault}`),
      // Only a refusal leads there, and this comparison has these two faults only if there is no other failure.
      ['order/on-Refused/apologise Engine/ServiceUnavailable', 'order/on-Refused/apologise Engine/ProgrammingError'],
    );
  });

  const folder = new URL('../../examples/activities/', import.meta.url);
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.ts') && name !== 'agents.ts')) {
    test(`F-163: for each step and fault of examples/activities/${file}, the fault table agrees with the engine`, async () => {
      const module = (await import(new URL(file, folder).href)) as { readonly body: Json; readonly [name: string]: unknown };
      const [definition] = Object.values(module).filter((value) => isObject(value) && 'exprVersion' in value) as unknown as [
        WorkflowDefinition,
      ];
      const seen = compared(definition, module.body);
      assert.ok(seen.size > 0 || faultPathsOf(definition).every(({ path }) => path !== 'order'));
    });
  }

  const done = stubOf({ concerns: () => true, first: 1, last: Infinity, answer: { status: 'succeeded', output: { key: 'k' } } });
  const refused = failing('Refused', true);
  const on = (activity: Activity, ...handlers: readonly Activity[]): Activity => ({
    ...activity,
    faultHandlers: handlers.map((body) => ({ fault: 'Refused', do: body })),
  });
  const retried = (name: string, body: Activity, count = 2): Activity => ({
    activity: 'retry',
    name,
    retries: count,
    intervalSeconds: 5,
    evenPermanent: true,
    do: body,
  });
  const nested = (body: Activity): WorkflowDefinition => workflow(sequence('order', body));
  const hard: readonly (readonly [string, WorkflowDefinition, readonly string[]])[] = [
    ['a retry comes before the handlers of its body', nested(retried('r', on(sequence('s', step('a')), step('b')))), ['s/a']],
    ['an inner handler comes before a retry', nested(retried('r', sequence('s', on(sequence('t', step('a')), step('b'))))), ['s/t/a']],
    ['a retry may contain another retry', nested(retried('r', retried('q', step('a')), 1)), ['q/a']],
    ['a fault in a handler skips the other handlers of its scope', nested(on(sequence('r', step('a')), step('b'), step('c'))), ['a', 'b']],
    [
      'the handler of a retry has a handler of its own',
      nested(on(retried('r', step('a')), on(sequence('h', step('b')), step('c')))),
      ['a', 'h/b'],
    ],
    ['the handler of a retry has a fault', nested(on(retried('r', step('a')), step('b'))), ['a', 'b']],
    [
      'an outer handler handles the fault of an inner handler',
      nested(on(sequence('r', on(sequence('s', step('a')), step('b'))), step('c'))),
      ['s/a', 's/b'],
    ],
  ];
  for (const [what, definition, failed] of hard) {
    test(`F-163: the fault table agrees with the engine: ${what}`, () => {
      const paths = failed.map((path) => `order/r/${path}`);
      const [last = ''] = paths.slice(-1);
      const verdict = faultPathOf(programOf(definition), last, { type: 'Refused', permanent: true }, 'declared');
      const run = rehearse(definition, {}, ...paths.map((path) => always(path, refused)), done);
      assert.ok(agrees(verdict, run, last));
    });
  }

  test('F-163: the fault table agrees with the engine for any fault at any step of any workflow', () => {
    let met = 0;
    const property = fc.property(roots, fc.constantFrom(...faultTypes), fc.boolean(), (shape, type, permanent) => {
      const { completeWithinSeconds: _, ...definition } = definitionOf(shape);
      // A cleanup activity's fault reaches no handler, and a called order takes any length of time.
      fc.pre(!/"(?:call|askOperator|waitFor|compute)"|"story:/.test(JSON.stringify(definition)));
      const program = programOf(definition);
      const plain = rehearse(definition, {}, done);
      // Other faults on the way would have used up runs.
      fc.pre(plain.outcome === 'completed' && plain.facts.every((fact) => fact.type !== 'FaultRaised'));
      for (const { path, purpose } of plain.steps) {
        if (purpose !== 'do') continue;
        const verdict = faultPathOf(program, definitionPath(path), { type, permanent }, 'declared');
        const run = rehearse(definition, {}, always(path, failing(type, permanent)), done);
        // An unhandled temporary fault counts like no reply: then the missing reply blocks the order.
        if (agrees(verdict.askedAgain ? { ...verdict, fault: silence } : verdict, run, path)) met += 1;
      }
    });
    fc.assert(property, { numRuns: 150 });
    assert.ok(met > 100, String(met));
  });

  test('the fault table shows what onExhausted does for a step without a reply', () => {
    const handled = { ...sequence('order', step('charge')), faultHandlers: [{ fault: 'Engine', do: delay('rest', 1) }] };
    const ends = (['error', 'wait', 'undo', 'fault'] as const).map((onExhausted) => {
      const definition = workflow(handled, { onExhausted });
      const done = stubOf({ concerns: () => true, first: 1, last: Infinity, answer: 'silence' });
      const [verdict] = faultPathsOf(definition).filter(({ fault }) => fault === silence);
      assert.ok(verdict?.askedAgain);
      if (onExhausted !== 'undo') agrees(verdict, rehearse(definition, {}, done), 'order/charge');
      return verdict.end.kind;
    });
    assert.deepEqual(ends, ['operator', 'waits', 'undone', 'handled']);
  });

  test('the fault table shows whether a handler undoes a scope, raises another fault, ends the order, or lets it continue', () => {
    const scope = (name: string, ...inside: readonly Parameters<typeof sequence>[1][]) => sequence(name, ...inside);
    const raise = (fault: string) => ({ activity: 'raise', name: `raise-${fault}`, fault, message: fault }) as const;
    const ends = (body: Parameters<typeof sequence>[1]) => {
      const inner = { ...scope('inner', step('a', { faults: ['No'] })), faultHandlers: [{ fault: 'No', do: body }] };
      const [verdict] = faultPathsOf(workflow(sequence('order', inner, step('b'))));
      return verdict?.end.kind === 'handled' ? [verdict.end.does, verdict.end.goesOn] : undefined;
    };
    assert.deepEqual(ends(sequence('h', { activity: 'compensate', name: 'compensate' })), [
      [{ kind: 'undoes', scope: 'order/inner' }],
      true,
    ]);
    assert.deepEqual(ends(sequence('h', step('c'), raise('Other'))), [[{ kind: 'raises', fault: 'Other' }], false]);
    assert.deepEqual(ends({ activity: 'terminate', name: 'terminate' }), [[{ kind: 'terminates' }], false]);
    const withHandler = { ...scope('h', raise('Other')), faultHandlers: [{ fault: 'Other', do: step('c') }] };
    assert.deepEqual(ends(withHandler), [[], true]);
  });
});
