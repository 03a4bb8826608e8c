import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { openLocalIssuer } from '#api/local-issuer';
import { folderFor, redress } from './support.ts';

describe('redress token', () => {
  const claimsOf = async (token: string, folder: string) => {
    const { issuer, audience, keys } = openLocalIssuer(folder);
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys as Parameters<typeof createLocalJWKSet>[0]), { issuer, audience });
    return payload;
  };

  test('prints only a token, which the system of that data folder accepts', async (context) => {
    const folder = folderFor(context);
    const { exitCode, out, err } = await redress(['token', '--role', 'client', '--client', 'acme'], {
      environment: { REDRESS_DATA: folder },
    });
    assert.equal(exitCode, 0);
    assert.equal(err, '');
    const { roles, client, exp = 0, iat = 0 } = await claimsOf(out.trim(), folder);
    assert.deepEqual({ roles, client, seconds: exp - iat }, { roles: ['client'], client: 'acme', seconds: 43_200 });
  });

  for (const [span, seconds] of [
    ['30s', 30],
    ['15m', 900],
    ['12h', 43_200],
    ['7d', 604_800],
  ] as const) {
    test(`--expires ${span} makes the token valid for ${seconds} seconds`, async (context) => {
      const folder = folderFor(context);
      const { json } = await redress(['token', '--role', 'operator', '--subject', 'olga', '--expires', span, '--data', folder, '--json']);
      const { roles, sub, exp = 0, iat = 0 } = await claimsOf(json.token, folder);
      assert.deepEqual({ roles, sub, seconds: exp - iat }, { roles: ['operator'], sub: 'olga', seconds });
      assert.ok(Math.abs(Date.parse(json.expiresAt) / 1000 - exp) < 60, 'the printed expiry is the signed one');
    });
  }

  test('--groups names the groups of the bearer', async (context) => {
    const folder = folderFor(context);
    const { json } = await redress(['token', '--role', 'viewer', '--groups', 'claims, night-shift,claims', '--data', folder, '--json']);
    const { roles, groups } = await claimsOf(json.token, folder);
    assert.deepEqual({ roles, groups }, { roles: ['viewer'], groups: ['claims', 'night-shift'] });
  });

  for (const args of [
    [],
    ['--role', 'client'],
    ['--role', 'boss'],
    ['--role', 'operator', '--expires', '12'],
    ['--role', 'operator', '--expires', '0s'],
    ['--role', 'operator', '--expires', '400d'],
    ['--role', 'admin', '--expires', '365d'],
    ['--role', 'client', '--client', 'acme', '--expires', '8d'],
    ['--role', 'client', '--client', 'a b'],
    ['--role', 'operator', '--groups', 'claims,,night'],
    ['--role', 'operator', '--groups', 'x'.repeat(65)],
  ]) {
    test(`"redress token ${args.join(' ')}" is a usage error`, async (context) => {
      const { exitCode, out } = await redress(['token', ...args, '--data', folderFor(context)]);
      assert.equal(exitCode, 2);
      assert.equal(out, '');
    });
  }
});

describe('the token of a command', () => {
  // A17 in docs/internals/findings.md.
  test('is not signed with the key of the data folder if the command goes to another host', async (context) => {
    const folder = folderFor(context);
    openLocalIssuer(folder);
    const { exitCode, err } = await redress(['client', 'list', '--url', 'http://redress.example:3000', '--data', folder]);
    assert.equal(exitCode, 2);
    assert.match(err, /No token for http:\/\/redress\.example:3000: set REDRESS_TOKEN or --token\./);
  });

  test('is valid for a minute if the command goes to this machine', async (context) => {
    const tokens: string[] = [];
    const server = createServer(({ headers: { authorization = '' } }, response) => {
      tokens.push(authorization.replace('Bearer ', ''));
      response.setHeader('content-type', 'application/json').end('{"items":[],"next":null}');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    context.after(() => server.close());
    const folder = folderFor(context);
    openLocalIssuer(folder);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    assert.equal((await redress(['client', 'list', '--url', url, '--data', folder])).exitCode, 0);
    const { exp = 0, iat = 0 } = decodeJwt(tokens[0] ?? '');
    assert.equal(exp - iat, 60);
  });
});
