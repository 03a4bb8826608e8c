import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { callOf, faultsOfScreen, type RunningConsole, show, shown, signedIn, startConsole } from './support.ts';

/* Solutions in a real browser: written, changed, and used on the task of a blocked order. */
let system: RunningConsole;
let page: Page;
let taskId: string;
const id = 'customer-left';

before(async () => {
  system = await startConsole();
  page = await signedIn(system);
});

after(() => system.stop());

const get = <T>(path: string): Promise<T> => callOf<T>(system)('GET', path, system.token('--role', 'admin', '--subject', 'other'));

test('F-156: a solution with an invalid field is not stored, and the error is shown next to that field; a corrected one is stored', async () => {
  const { items } = await get<{ items: { id: string; orderId?: string; fingerprint?: string }[] }>('/tasks');
  const task = items.find(({ orderId, fingerprint }) => orderId !== undefined && fingerprint !== undefined);
  taskId = task?.id ?? '';
  await show('/solutions/new', page);
  await page.getByLabel(/^Id/).fill(id);
  await page.getByLabel('Name', { exact: true }).fill('The customer has left');
  await page.getByLabel(/^Fingerprints/).fill(task?.fingerprint ?? '');
  await page.getByLabel(/^Instruction/).fill('{"kind": "terminate", "{{who}}": 1}');
  await page.getByLabel('Reason, for the audit').fill('It happens often');
  await page.getByRole('button', { name: 'Save the solution' }).click();
  await page
    .getByText(/^\/instruction/)
    .first()
    .waitFor();
  assert.deepEqual((await get<{ items: unknown[] }>('/solutions')).items, []);
  await page.getByLabel(/^Instruction/).fill('{"kind": "terminate"}');
  await page.getByRole('button', { name: 'Save the solution' }).click();
  await shown(`/solutions/${id}`, page);
  await page.getByRole('heading', { name: 'Try it on an order' }).waitFor();
  await page.locator(`main a[href="#/tasks/${taskId}?solution=${id}"]`).waitFor();
  assert.deepEqual(await faultsOfScreen(`/solutions/${id}`, page), []);
});

test('F-156: a solution that another person has changed meanwhile is not overwritten, and the typed text stays', async () => {
  await show(`/solutions/${id}`, page);
  await page.getByLabel('Name', { exact: true }).fill('Gone');
  await page.getByLabel('Reason, for the audit').fill('Shorter');
  const put = { name: 'The customer left us', instruction: { kind: 'terminate' }, reason: 'Clearer' };
  await page.route(`**/solutions/${id}`, async (route) => {
    const { fingerprints } = await get<{ fingerprints: string[] }>(`/solutions/${id}`);
    await fetch(`${system.url}/solutions/${id}`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${system.token('--role', 'admin', '--subject', 'other')}`,
        'content-type': 'application/json',
        'if-match': '"1"',
      },
      body: JSON.stringify({ ...put, fingerprints }),
    });
    await route.continue();
  });
  await page.getByRole('button', { name: 'Save version 2' }).click();
  const note = page.getByRole('alert').filter({ hasText: 'other has changed it meanwhile: version 2' });
  await note.getByText('Clearer').waitFor();
  await page.unroute(`**/solutions/${id}`);
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Gone');
  await page.reload();
  await note.waitFor();
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Gone');
  assert.deepEqual(await faultsOfScreen(`/solutions/${id}`, page), []);
  await page.getByRole('button', { name: 'Take version 2' }).click();
  await note.waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'The customer left us');
  assert.equal((await get<{ name: string }>(`/solutions/${id}`)).name, 'The customer left us');
});

test('F-155: the page of a task suggests a solution, and four clicks resolve the task with it', async () => {
  await show('/tasks', page);
  await page.locator(`main a[href="#/tasks/${taskId}"]`).first().click();
  await page.getByRole('radio', { name: /The customer left us/ }).click();
  const region = page.getByRole('region', { name: `Solution ${id}` });
  await region.getByLabel('Reason, for the audit').fill('He has told us');
  assert.deepEqual(await faultsOfScreen(`/tasks/${taskId}?solution=${id}`, page), []);
  await region.getByRole('button', { name: /^Check/ }).click();
  await page.getByText('possible', { exact: true }).waitFor();
  await region.getByRole('button', { name: 'Terminate, undo nothing' }).click();
  await page.getByRole('heading', { name: 'Resolved' }).waitFor();
  const { resolution } = await get<{ resolution: { solutionId: string; reason: string } }>(`/tasks/${taskId}`);
  assert.deepEqual([resolution.solutionId, resolution.reason], [id, 'He has told us']);
});
