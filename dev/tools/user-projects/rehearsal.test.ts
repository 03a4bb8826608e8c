import assert from 'node:assert/strict';
import { test } from 'node:test';
import { given, rehearse } from 'redress/testing';
import { OutOfStock, ordered, shop } from './workflow.ts';

const order = { item: 'lamp' };

test('an order completes', () => {
  assert.equal(rehearse(ordered, order).outcome, 'completed');
});

test('an order without stock is blocked', () => {
  assert.equal(rehearse(ordered, order, given(shop.reserve).faults(OutOfStock)).outcome, 'blocked');
});

test('an order is rehearsed in a Node without SQLite, if the runner was started in one', () => {
  const isWithout = process.env['NODE_OPTIONS']?.includes('--no-experimental-sqlite') === true;
  assert.equal(process.getBuiltinModule('node:sqlite') === undefined, isWithout);
  assert.equal(rehearse(ordered, order).story(), 'shop.reserve ok, completed');
});
