import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashTest, given, rehearse } from 'redress/testing';
import { facilities, it } from './agents.ts';
import { NoDesk } from './faults.ts';
import { approval, onboard } from './workflow.ts';

const order = { name: 'Ann', email: 'ann@example.com', manager: 'bob@example.com', model: 'x1', city: 'Bonn' };
const approved = given(approval).comes({ approved: true }, { afterSeconds: 3600 });

test('an approved employee gets an account, a laptop and a desk', () => {
  assert.equal(
    rehearse(onboard, order, approved).story(),
    'it.createAccount ok, signal approval ok, it.provisionLaptop ok, facilities.bookDesk ok, facilities.mail ok, completed',
  );
});

test('a refusal deletes the account', () => {
  const run = rehearse(onboard, order, given(approval).comes({ approved: false }));
  assert.equal(run.story(), 'it.createAccount ok, signal approval ok, it.deleteAccount ok, facilities.mail ok, compensated');
});

test('an order without a desk is blocked', () => {
  assert.equal(rehearse(onboard, order, approved, given(facilities.bookDesk).faults(NoDesk)).outcome, 'blocked');
});

test('an employee is onboarded once, at whichever call the process crashes', async () => {
  const { runs, outcomes } = await crashTest(onboard, [it, facilities], { order, stubs: approved });
  assert.deepEqual(outcomes, { completed: runs });
});
