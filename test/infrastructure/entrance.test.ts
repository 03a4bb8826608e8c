import assert from 'node:assert/strict';
import { describe, test } from '@jest/globals';
import { SetupError } from '#ports/errors';
import { defaults, ofType, type Synthesized, synthesize, theOne } from './support.ts';

const external = { issuer: 'https://id.example', audience: 'orders,console' };
const routesOf = (synthesized: Synthesized) =>
  ofType(synthesized, 'ApiGatewayV2::Route')
    .map(([, { Properties }]) => [Properties['RouteKey'], Properties['AuthorizationType']])
    .toSorted();
const authorizerOf = (synthesized: Synthesized) => theOne(synthesized, 'ApiGatewayV2::Authorizer').Properties['JwtConfiguration'];
const accessLogOf = (synthesized: Synthesized) =>
  (theOne(synthesized, 'ApiGatewayV2::Stage').Properties['AccessLogSettings'] as { Format: string }).Format;
const refused = (props: Parameters<typeof synthesize>[0], says: RegExp, remedy: RegExp) =>
  assert.throws(
    () => synthesize(props),
    (error: unknown) => error instanceof SetupError && says.test(error.message) && remedy.test(error.remedy),
  );

describe('the check of tokens by API Gateway', () => {
  test('on request, the gateway checks tokens of the user pool on every route except for the public ones', () => {
    assert.deepEqual(routesOf(synthesize({ props: { authorizer: {} } })), [
      ['$default', 'JWT'],
      ['ANY /', 'NONE'],
      ['ANY /console/{name}', 'NONE'],
      ['ANY /health', 'NONE'],
      ['ANY /openapi.json', 'NONE'],
      ['ANY /sign-in', 'NONE'],
    ]);
  });

  test('tokens of each app client pass: access tokens name it as client_id, and ID tokens as aud', () => {
    const stack = synthesize({ props: { clients: ['acme'], authorizer: { audience: ['later'] } } });
    const clients = ofType(stack, 'Cognito::UserPoolClient').map(([id]) => ({ Ref: id }));
    const { Audience } = authorizerOf(stack) as { Audience: readonly unknown[] };
    assert.equal(clients.length, 2);
    assert.deepEqual(Audience, [...clients, 'later']);
  });

  test('the gateway checks tokens of another issuer only on request, because it needs RSA keys and a discovery document', () => {
    const plain = synthesize({ props: { issuer: external } });
    assert.deepEqual([routesOf(plain), ofType(plain, 'ApiGatewayV2::Authorizer')], [[['$default', 'NONE']], []]);
    const checked = synthesize({ props: { issuer: external, authorizer: {} } });
    assert.deepEqual(authorizerOf(checked), { Audience: ['orders', 'console'], Issuer: external.issuer });
  });

  test('without an authorizer the gateway checks no token', () => {
    assert.deepEqual(routesOf(defaults()), [['$default', 'NONE']]);
  });

  test('the access log names the bearer of a token that was checked', () => {
    assert.match(accessLogOf(synthesize({ props: { authorizer: {} } })), /"sub":"\$context.authorizer.claims.sub"/);
    assert.doesNotMatch(accessLogOf(defaults()), /authorizer/);
  });

  test('more than fifty app clients are refused, with a remedy', () => {
    const clients = Array.from({ length: 50 }, (_, index) => `c${index}`);
    refused({ props: { clients, authorizer: {} } }, /51 audiences.* 50/, /Leave out `authorizer`/);
  });
});

describe('the address of the API', () => {
  test('the API may have a domain of the user as its only address', () => {
    const certificateArn = 'arn:aws:acm:eu-central-1:123456789012:certificate/1';
    const stack = synthesize({
      isChecked: true,
      props: { domain: { name: 'orders.example.com', certificateArn }, disableExecuteApiEndpoint: true },
    });
    assert.equal(stack.outputs['ApiUrl']?.Value, 'https://orders.example.com');
    assert.equal(theOne(stack, 'ApiGatewayV2::Api').Properties['DisableExecuteApiEndpoint'], true);
    assert.partialDeepStrictEqual(theOne(stack, 'ApiGatewayV2::DomainName').Properties, {
      DomainName: 'orders.example.com',
      DomainNameConfigurations: [{ CertificateArn: certificateArn, EndpointType: 'REGIONAL' }],
    });
    assert.equal(ofType(stack, 'ApiGatewayV2::ApiMapping').length, 1);
    assert.deepEqual(stack.open, []);
  });

  test('the API keeps the address of API Gateway if it has no other one', () => {
    refused({ props: { disableExecuteApiEndpoint: true } }, /no address/, /domain/);
  });
});
