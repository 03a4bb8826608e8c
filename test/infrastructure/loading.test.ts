import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from '@jest/globals';
import { Lazy } from 'aws-cdk-lib';
import { checkThatItLoads } from '#infrastructure/load-check';
import { SetupError } from '#ports/errors';
import { synthesize } from './support.ts';
import { testContext } from './test-context.ts';

const app = (name: string): string => fileURLToPath(new URL(`./apps/${name}.ts`, import.meta.url));

// A2 in docs/internals/findings.md.
test('when an app or a package of it imports createRequire, its bundle loads in every function', () => {
  assert.doesNotThrow(() => synthesize({ isBundled: true, props: { entry: app('create-require') } }));
});

test('when an app does not load in a function, the synthesis refuses it with the error that it threw', () => {
  assert.throws(
    () =>
      synthesize({ isBundled: true, props: { entry: app('needs-a-variable'), agentEnvironment: { STOCK_URL: 'https://stock.example' } } }),
    (error: unknown) =>
      error instanceof SetupError &&
      /apps\/needs-a-variable\.ts does not load in Lambda: Error: STOCK_URL is missing\./.test(error.message) &&
      /agentEnvironment/.test(error.remedy),
    'the scheduler has no variables of agents',
  );
  const variables = { STOCK_URL: 'https://stock.example' };
  assert.doesNotThrow(() => synthesize({ isBundled: true, props: { entry: app('needs-a-variable'), variables } }));
});

test('when only CloudFormation knows a variable, an app that may need it is accepted', () => {
  const variables = { STOCK_URL: Lazy.string({ produce: () => 'https://stock.example' }) };
  assert.doesNotThrow(() => synthesize({ isBundled: true, props: { entry: app('needs-a-variable'), variables } }));
});

for (const [what, source, says] of [
  ['never finishes loading', 'setInterval(() => {}, 1000); await new Promise(() => {});', 'it did not finish loading within 2 s'],
  ['ends the process while it is loaded', 'process.exit(0);', 'the process ended before it was loaded'],
] as const)
  test(`when an app ${what}, the synthesis refuses it and gives that reason`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'redress-loading-'));
    testContext.after(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'index.mjs'), source);
    assert.throws(
      () => checkThatItLoads(folder, 'app.ts', {}, 2000),
      (error: unknown) =>
        error instanceof SetupError &&
        error.message === `The app app.ts does not load in Lambda: ${says}.` &&
        /agentEnvironment/.test(error.remedy),
    );
  });
