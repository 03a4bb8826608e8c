import assert from 'node:assert/strict';
import { describe, test } from '@jest/globals';
import { ofType, synthesize } from './support.ts';

const stack = synthesize({ props: { clients: ['acme'] } });
const [pool] = ofType(stack, 'Cognito::UserPool').map(([, { Properties }]) => Properties);
const clientsOfPool = ofType(stack, 'Cognito::UserPoolClient').map(([, { Properties }]) => Properties);

describe('the user pool', () => {
  test('people are invited, need an authenticator app, and have passwords of 12 characters at least', () => {
    assert.partialDeepStrictEqual(pool, {
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
      MfaConfiguration: 'ON',
      EnabledMfas: ['SOFTWARE_TOKEN_MFA'],
      Policies: { PasswordPolicy: { MinimumLength: 12 } },
    });
    assert.deepEqual(ofType(stack, 'Cognito::UserPoolUser'), []);
  });

  test('a program gets tokens by its secret alone, and no person can sign in to its app client', () => {
    const [program] = clientsOfPool.filter(({ ClientName }) => ClientName === 'acme');
    assert.partialDeepStrictEqual(program, {
      GenerateSecret: true,
      AllowedOAuthFlows: ['client_credentials'],
      ExplicitAuthFlows: ['ALLOW_REFRESH_TOKEN_AUTH'],
    });
  });

  test('people sign in with the authorization code alone, the client does not say who exists, and its tokens last an hour', () => {
    const [people] = clientsOfPool.filter(({ ClientName }) => ClientName === undefined);
    assert.partialDeepStrictEqual(people, {
      AllowedOAuthFlows: ['code'],
      ExplicitAuthFlows: ['ALLOW_REFRESH_TOKEN_AUTH'],
      PreventUserExistenceErrors: 'ENABLED',
      AccessTokenValidity: 60,
      IdTokenValidity: 60,
    });
    assert.equal(people?.['GenerateSecret'] ?? false, false, 'a public client uses PKCE');
  });
});
