import assert from 'node:assert/strict';
import { describe, test } from '@jest/globals';
import { ofType, type Synthesized, synthesize } from './support.ts';

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

  test('people sign in by authorization code alone; the app client does not reveal which users exist, and its tokens last an hour', () => {
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

  test('people sign in to the deployed console: its function knows the sign-in page of the pool, which sends them back to the console', () => {
    const [client = ''] =
      ofType(stack, 'Cognito::UserPoolClient').find(([, { Properties }]) => Properties['ClientName'] === undefined) ?? [];
    const { REDRESS_SIGN_IN_CLIENT, REDRESS_SIGN_IN_AUTHORIZE_URL, REDRESS_SIGN_IN_TOKEN_URL } = variablesOfApi(stack);
    assert.deepEqual(REDRESS_SIGN_IN_CLIENT, { Ref: client });
    assert.match(JSON.stringify(REDRESS_SIGN_IN_AUTHORIZE_URL), /amazoncognito\.com\/oauth2\/authorize"/);
    assert.match(JSON.stringify(REDRESS_SIGN_IN_TOKEN_URL), /amazoncognito\.com\/oauth2\/token"/);
    const { CallbackURLs } = stack.resources[client]?.Properties ?? {};
    assert.deepEqual(CallbackURLs, ['http://localhost:3000/', { 'Fn::Join': ['', [stack.outputs['ApiUrl']?.Value, '/']] }]);
  });

  test('another issuer names the app client of the console, and no user pool is made', () => {
    const signIn = { clientId: 'console', authorizeUrl: 'https://id.example.com/authorize', tokenUrl: 'https://id.example.com/token' };
    const other = synthesize({ props: { issuer: { issuer: 'https://id.example.com', audience: 'redress', signIn } } });
    assert.partialDeepStrictEqual(variablesOfApi(other), {
      REDRESS_SIGN_IN_CLIENT: 'console',
      REDRESS_SIGN_IN_AUTHORIZE_URL: 'https://id.example.com/authorize',
      REDRESS_SIGN_IN_TOKEN_URL: 'https://id.example.com/token',
    });
    assert.deepEqual(ofType(other, 'Cognito::UserPool'), []);
  });
});

/** The variables of the function that serves the API and the console. */
function variablesOfApi({ resources }: Synthesized): { readonly [name: string]: unknown } {
  const functions = Object.values(resources).flatMap(({ Properties: { Environment } }) =>
    Environment ? [(Environment as { Variables: { [name: string]: unknown } }).Variables] : [],
  );
  return functions.find((variables) => 'REDRESS_CURSOR_SECRET' in variables) ?? {};
}
