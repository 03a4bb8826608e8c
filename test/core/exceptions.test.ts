import assert from 'node:assert/strict';
import test from 'node:test';
import * as z from 'zod';
import { classOfEngineFault, engineFault, engineFaults, type Fault, tagsOf } from '#core/data/fault';
import { exceptionFingerprint, type Fingerprinted } from '#core/exceptions/fingerprint';
import { messageTemplate } from '#core/exceptions/message-template';
import { defineAgent, defineWorkflow, fault, operation, raise, sequence } from '../../lib/index.ts';

test('F-123: each fault of the engine has the class of the part that failed', () => {
  const named = (wanted: string): readonly string[] =>
    Object.values(engineFaults)
      .filter((type) => classOfEngineFault(type) === wanted)
      .map((type) => type.replace('Engine/', ''))
      .toSorted();
  assert.deepEqual(named('application-failure'), [
    'ChildNotCompleted',
    'ComputeFailed',
    'InvalidReply',
    'OutcomeUnknown',
    'OutputTooLarge',
    'ProgrammingError',
    'RanTwice',
  ]);
  assert.deepEqual(named('unexpected'), ['RequestRefused', 'WritersConflict']);
  assert.deepEqual(named('expected'), []);
  assert.equal(engineFault(engineFaults.deadlineExceeded, 'late').class, 'basic-failure');
  assert.equal(engineFault(engineFaults.invalidReply, 'no JSON').class, 'application-failure');
});

test('F-124: a fault has the tags of its class, unless its declaration gives others', () => {
  assert.deepEqual(tagsOf({ class: 'expected' }), ['user', 'semantic']);
  assert.deepEqual(tagsOf({ class: 'unexpected' }), ['user', 'semantic']);
  assert.deepEqual(tagsOf({ class: 'basic-failure' }), ['technical', 'system']);
  assert.deepEqual(tagsOf({ class: 'application-failure' }), ['technical', 'system']);
  assert.deepEqual(tagsOf({ class: 'expected', tags: ['technical', 'semantic'] }), ['technical', 'semantic']);
});

test('F-124: the details of a declared fault are part of the definition, and a subtype has the details of its supertype', () => {
  const Refused = fault('Refused', { tags: ['user', 'semantic'] });
  const NoStock = fault('NoStock', Refused, { groupBy: 'message' });
  const Plain = fault('Plain');
  const stock = defineAgent('stock', {
    reserve: operation({ input: z.object({}), output: z.object({}), faults: [NoStock, Plain], run: () => ({}) }),
  });
  const workflow = defineWorkflow('w', { version: 1, order: z.object({}), toOperator: [Refused, Plain] }, () =>
    sequence(stock.reserve({}).noUndo(), raise(Refused, 'no')),
  );
  const children = (workflow.root as unknown as { readonly children: readonly object[] }).children;
  assert.partialDeepStrictEqual(children[0], {
    faults: ['Refused/NoStock', 'Plain'],
    faultDetails: { 'Refused/NoStock': { tags: ['user', 'semantic'], groupBy: 'message' } },
  });
  assert.partialDeepStrictEqual(children[1], { fault: 'Refused', tags: ['user', 'semantic'] });
});

test('F-124: tags that exclude each other, and an unknown groupBy, are refused, and the message says what to write', () => {
  assert.throws(
    () => fault('NoStock', { tags: ['technical', 'user'] }),
    /one of "technical" and "user", and one of "system" and "semantic"/,
  );
  assert.throws(() => fault('NoStock', { tags: ['user'] }), /Invalid tags of the fault "NoStock": \["user"\]/);
  assert.throws(() => fault('NoStock', { groupBy: 'type' as 'message' }), /Expected "message"/);
});

test('a message is compared without its ids, dates and numbers, and in lower case', () => {
  const alike = (one: string, other: string): void => assert.equal(messageTemplate(one), messageTemplate(other));
  alike('Order ord_k3j2h4k5j6h7a8s9 failed', 'order ord_zzzzzzzzzzzzzzzz99 failed');
  alike('no row 7d444840-9dc0-11d1-b245-5ffdce74fad2', 'no row 00000000-9dc0-11d1-b245-5ffdce74fad2');
  alike('at 2026-11-25T10:00:00.123Z', 'at 2027-01-01');
  alike('block 0badf00d1 is gone', 'block deadbeef22 is gone');
  alike('7 of 1,000.5 left', '-12 of 3 left');
  assert.equal(messageTemplate('sku "MUG" not found'), 'sku "mug" not found');
  assert.notEqual(messageTemplate('sku "MUG" not found'), messageTemplate('sku "CUP" not found'));
});

test('a fingerprint leaves out the turns of loops, and contains the message of a fault only if nobody declared the fault', () => {
  const declared: Pick<Fault, 'type' | 'class' | 'message'> = { type: 'Refused/NoStock', class: 'expected', message: 'no MUG' };
  const of = (change: Partial<Fingerprinted> = {}): string =>
    exceptionFingerprint({ workflow: 'w', path: 'order/items[3]/reserve', fault: declared, ...change });
  assert.equal(of(), of({ path: 'order/items[4]/reserve' }));
  assert.equal(of(), of({ fault: { ...declared, message: 'no CUP' } }));
  assert.notEqual(of(), of({ path: 'order/reserve' }));
  assert.notEqual(of(), of({ workflow: 'v' }));
  assert.notEqual(of(), of({ fault: { ...declared, type: 'Refused/CardDeclined' } }));
  const undeclared: Fingerprinted['fault'] = { ...declared, class: 'unexpected' };
  assert.notEqual(of({ fault: undeclared }), of({ fault: { ...undeclared, message: 'no CUP' } }));
  assert.equal(of({ fault: { ...undeclared, message: 'row 1' } }), of({ fault: { ...undeclared, message: 'row 2' } }));
  const grouped: Fingerprinted['fault'] = { ...declared, groupBy: 'message' };
  assert.notEqual(of({ fault: grouped }), of({ fault: { ...grouped, message: 'no CUP' } }));
});
