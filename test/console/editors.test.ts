import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type RunningConsole, show, signedIn, startConsole } from './support.ts';

/* Two people change one rule. The texts of both stay visible until one of them decides. */
let system: RunningConsole;
let page: Page;

before(async () => {
  system = await startConsole();
  page = await signedIn(system);
});

after(() => system.stop());

interface Rule {
  readonly name: string;
  readonly version: number;
  readonly priority: number;
}

async function rule(method: 'GET' | 'PUT', body?: object, version?: number): Promise<Rule> {
  const response = await fetch(`${system.url}/rules/late-charges`, {
    method,
    headers: {
      authorization: `Bearer ${system.token('--role', 'admin', '--subject', 'mary')}`,
      'content-type': 'application/json',
      ...(version === undefined ? {} : { 'if-match': `"${version}"` }),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  assert.ok(response.ok, `${method}: ${response.status} ${await response.clone().text()}`);
  return (await response.json()) as Rule;
}

const written = {
  name: 'Late charges',
  event: { kind: 'exception', type: 'ChargeLate' },
  action: { kind: 'announce', text: 'A charge is late.' },
  mode: 'off',
  priority: 3,
};

test('F-140: a person who changes a rule keeps the typed text when another person saves first, and replaces the other change only after a confirmation', async () => {
  await rule('PUT', { ...written, reason: 'Agreed' });
  await show('/rules/late-charges', page);
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Charges that take long');
  await rule('PUT', { ...written, name: 'Slow charges', priority: 7, reason: 'More urgent' }, 1);
  await page.getByLabel('Reason, for the audit').fill('Plainer');
  await page.getByRole('button', { name: /^Save/ }).click();
  const note = page.getByRole('alert').filter({ hasText: 'mary has changed it meanwhile: version 2' });
  await note.getByText('More urgent').waitFor();
  assert.equal(await name.inputValue(), 'Charges that take long');
  assert.equal(await page.getByLabel('Priority').inputValue(), '7', 'what was not typed is that of the new version');
  await page.keyboard.press('Control+Enter');
  await note.getByText(/^What differs/).click();
  assert.deepEqual(await note.locator('.diff span').allTextContents(), [
    '- "name": "Slow charges",',
    '+ "name": "Charges that take long",',
  ]);
  assert.equal((await rule('GET')).version, 2, 'the key that saves does not save over');
  await page.getByRole('button', { name: 'Save over version 2' }).click();
  await note.waitFor({ state: 'detached' });
  const { version, name: saved, priority } = await rule('GET');
  assert.deepEqual([version, saved, priority], [3, 'Charges that take long', 7]);
});
