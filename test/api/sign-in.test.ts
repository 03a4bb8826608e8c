import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryIssuer } from '#api/local-issuer';
import { authorizationOf } from '#api/session';
import { createLocalSignIn } from '#api/sign-in';

test('a code signs a person in once, only before it expires, and only if it is unchanged', async () => {
  let time = Date.parse('2026-01-01T00:00:00Z');
  const now = () => time;
  const { code, start } = createLocalSignIn(temporaryIssuer({ now }), now);
  const [good, late] = [code(), code()];
  assert.equal(await start(`${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}`), undefined);
  assert.match((await start(good)) ?? '', /^[\w-]+\.[\w-]+\.[\w-]+$/);
  assert.equal(await start(good), undefined);
  time += 10 * 60_000;
  assert.equal(await start(late), undefined);
});

test('a page of another origin cannot use the session of a browser', () => {
  const asked = (method: string, headers: { readonly [name: string]: string }) =>
    authorizationOf({ method, header: (name) => ({ cookie: 'redress_session=a.b.c', host: 'localhost:3000', ...headers })[name] });
  assert.equal(asked('POST', { origin: 'http://localhost:3000' }), 'Bearer a.b.c');
  assert.equal(asked('GET', {}), 'Bearer a.b.c');
  for (const origin of ['https://evil.example', 'null', 'http://localhost:3001']) assert.equal(asked('POST', { origin }), null);
  assert.equal(asked('GET', { 'sec-fetch-site': 'cross-site' }), null);
  assert.equal(asked('POST', {}), null);
});
