import assert from 'node:assert/strict';
import { test } from '@jest/globals';
import { checkNames } from '#infrastructure/names';
import { SetupError } from '#ports/errors';
import { synthesize } from './support.ts';

const names = { name: 'redress', clients: [], hasUserPool: true };
const refused = (given: Partial<Parameters<typeof checkNames>[0]>, says: RegExp, remedy: RegExp): void =>
  assert.throws(
    () => checkNames({ ...names, ...given }),
    (error: unknown) => error instanceof SetupError && says.test(error.message) && remedy.test(error.remedy),
    JSON.stringify(given),
  );

// A12 in docs/internals/findings.md.
test('a deployment name must suit Cognito, SQS and the functions; the synthesis refuses others with a suggestion', () => {
  for (const name of ['redress', 'a', 'orders-2', 'x'.repeat(39)]) assert.doesNotThrow(() => checkNames({ ...names, name }));
  refused({ name: 'Orders' }, /Invalid deployment name "Orders".*1 to 39 lowercase/, /"orders"/);
  refused({ name: 'my_orders' }, /"my_orders"/, /"my-orders"/);
  refused({ name: 'orders-' }, /"orders-"/, /"orders"/);
  refused({ name: '' }, /""/, /"redress"/);
  refused({ name: 'x'.repeat(40) }, /1 to 39/, new RegExp(`"${'x'.repeat(39)}"`));
});

test('names that Cognito reserves are refused only if the stack creates a user pool', () => {
  for (const name of ['aws-orders', 'orders-of-amazon', 'my-cognito']) {
    refused({ name }, /Cognito forbids/, /issuer/);
    assert.doesNotThrow(() => checkNames({ ...names, name, hasUserPool: false }));
  }
});

test('the synthesis refuses a client id that the API would refuse', () => {
  refused({ clients: ['acme', 'two words'] }, /Invalid client id "two words"/, /clients/);
  assert.doesNotThrow(() => checkNames({ ...names, clients: ['acme'] }));
});

test('the construct checks its names before it creates anything', () => {
  assert.throws(() => synthesize({ props: { name: 'Orders' } }), SetupError);
  assert.throws(() => synthesize({ props: { clients: ['two words'] } }), SetupError);
});
