import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Lazy } from 'aws-cdk-lib';
import { SetupError } from '../../lib/errors.ts';
import { synthesize } from './support.ts';

const app = (name: string): string => fileURLToPath(new URL(`./apps/${name}.ts`, import.meta.url));

test('when an app or a package of it imports createRequire, its bundle loads in every function', () => {
  assert.doesNotThrow(() => synthesize({ props: { entry: app('create-require') } }));
});

test('when an app does not load in a function, the synthesis refuses it with what it threw', () => {
  assert.throws(
    () => synthesize({ props: { entry: app('needs-a-variable'), agentEnvironment: { STOCK_URL: 'https://stock.example' } } }),
    (error: unknown) =>
      error instanceof SetupError &&
      /apps\/needs-a-variable\.ts does not load in Lambda: Error: STOCK_URL is missing\./.test(error.message) &&
      /agentEnvironment/.test(error.remedy),
    'the scheduler has no variables of agents',
  );
  const variables = { STOCK_URL: 'https://stock.example' };
  assert.doesNotThrow(() => synthesize({ props: { entry: app('needs-a-variable'), variables } }));
});

test('when only CloudFormation will know a variable, an app that may need it is taken', () => {
  const variables = { STOCK_URL: Lazy.string({ produce: () => 'https://stock.example' }) };
  assert.doesNotThrow(() => synthesize({ props: { entry: app('needs-a-variable'), variables } }));
});
