import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { startSignIn } from '../../dev/tools/aws/sign-in.ts';
import { openBrowser } from '../../dev/tools/browser.ts';
import { ended, issuer, orderOf, outputs, sample, submit } from './support.ts';

/** The emulators serve an API below a path, and the console belongs to an origin. This server has the API at its root. */
const origin = createServer((request, response) => {
  void (async () => {
    const body = await buffer(request);
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers as { [name: string]: string };
    const answer = await fetch(`${outputs.ApiUrl}${request.url}`, {
      method: request.method ?? 'GET',
      headers,
      ...(body.length > 0 ? { body } : {}),
    });
    const { 'content-encoding': ____, 'content-length': _____, ...kept } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, kept).end(Buffer.from(await answer.arrayBuffer()));
  })();
});
let browser: Browser;

before(async () => {
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  browser = await openBrowser();
});

after(async () => {
  await browser.close();
  origin.closeAllConnections();
  origin.close();
});

test('F-153: an operator signs in to the deployed console at an OpenID issuer, opens a blocked order and ends it', async (t) => {
  const signIn = await startSignIn(issuer, 'console-operator');
  t.after(() => signIn.close());
  const orderId = await submit(sample('address-invalid'));
  assert.equal((await ended(orderId)).processState, 'Error');

  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(60_000);
  await page.goto(`http://127.0.0.1:${(origin.address() as AddressInfo).port}/#/orders/${orderId}?do=terminate`);
  await page.getByRole('button', { name: /sign in/i }).click();
  await page.getByText('console-operator').first().waitFor();
  const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
  assert.doesNotMatch(String(stored), /eyJ/, 'the browser stores no token');
  const form = page.getByRole('region', { name: /^Terminate/ });
  await form.getByLabel('Reason, for the audit').fill('The address does not exist');
  await form.getByRole('button', { name: 'Check' }).click();
  await page.getByText('This is what it would do').waitFor();
  await form.getByRole('button', { name: /^Terminate/ }).click();
  await page.getByText('Applied: Terminate.').first().waitFor();
  assert.equal((await orderOf(orderId)).outcome, 'terminated');
});
