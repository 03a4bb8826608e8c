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

test('when a token issuer is configured, the system reports it, and no longer accepts its own tokens', async (t) => {
  const { data, variables } = site(t);
  const system = await startLocal(t, { ...variables, ...configured });
  assert.match(system.out(), /^ok {2}token issuer {21}https:\/\/sign-in\.example\.org\/shop$/m);
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

test('when an issuer is misconfigured, the start is refused with exit code 2, and no key is shown', async (t) => {
  const { variables } = site(t);
  const REDRESS_ISSUER_KEYS = JSON.stringify({ keys: [privateKey.export({ format: 'jwk' })] });
  const { code, lines } = await complaintOf(t, { ...variables, ...configured, REDRESS_AUDIENCE: '', REDRESS_ISSUER_KEYS });
  assert.equal(code, 2);
  assert.deepEqual(lines, [
    'redress: The configuration of the token issuer is invalid: REDRESS_AUDIENCE: missing; REDRESS_ISSUER_KEYS: key 1 is a private key; expected public keys only. Correct these variables, or unset REDRESS_ISSUER: tokens are then signed with a key in the data folder.',
  ]);
});
