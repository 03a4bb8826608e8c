import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { SignJWT } from 'jose';
import { complaintOf, site, startLocal, tokenFor } from './support.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const issuer = 'https://sign-in.example.org/shop';
const configured = {
  REDRESS_ISSUER: issuer,
  REDRESS_AUDIENCE: 'redress',
  REDRESS_ISSUER_KEYS: JSON.stringify({ keys: [publicKey.export({ format: 'jwk' })] }),
};

test('where an issuer of tokens is configured the system says whose tokens it believes, and no longer believes its own', async (t) => {
  const { data, variables } = site(t);
  const system = await startLocal(t, { ...variables, ...configured });
  assert.match(system.out(), /^ok {2}tokens {27}of https:\/\/sign-in\.example\.org\/shop$/m);
  const theirs = await new SignJWT({ roles: ['operator'] })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(issuer)
    .setAudience('redress')
    .setSubject('olga')
    .setExpirationTime('1h')
    .sign(privateKey);
  const statuses = [theirs, await tokenFor(data, 'operator')].map(async (token) => {
    const { status } = await fetch(`${system.url}/orders`, { headers: { authorization: `Bearer ${token}` } });
    return status;
  });
  assert.deepEqual(await Promise.all(statuses), [200, 401]);
  await system.kill('SIGTERM');
});

test('an issuer that is configured wrongly is refused with exit code 2, and no key is shown', async (t) => {
  const { variables } = site(t);
  const REDRESS_ISSUER_KEYS = JSON.stringify({ keys: [privateKey.export({ format: 'jwk' })] });
  const { code, lines } = await complaintOf(t, { ...variables, ...configured, REDRESS_AUDIENCE: '', REDRESS_ISSUER_KEYS });
  assert.equal(code, 2);
  assert.deepEqual(lines, [
    'redress: The issuer of tokens is configured wrongly: REDRESS_AUDIENCE: it is missing; REDRESS_ISSUER_KEYS: key 1 is private: give public keys only. Correct these variables; without REDRESS_ISSUER the data folder is the issuer.',
  ]);
});
