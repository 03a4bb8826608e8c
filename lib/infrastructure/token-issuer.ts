import { Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AccountRecovery,
  type CfnUserPoolClient,
  ClientAttributes,
  FeaturePlan,
  Mfa,
  OAuthScope,
  ResourceServerScope,
  StringAttribute,
  UserPool,
  type UserPoolClient,
  UserPoolGroup,
} from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import type { TokenCheck } from './http-api.ts';

/** An external token issuer in place of the stack's user pool. */
export interface ExternalIssuer {
  /** The `iss` of its tokens. */
  readonly issuer: string;
  readonly audience: string;
  /** Its public keys as a JWKS; without them, the API fetches them from the issuer. */
  readonly keys?: string;
}

export interface UserPoolIssuerProps {
  readonly name: string;
  readonly removalPolicy: RemovalPolicy;
  /** Programs that submit orders; each gets an app client (client credentials). */
  readonly clients: readonly string[];
}

export const userRoles = ['client', 'viewer', 'operator', 'admin'] as const;

/** The stack's user pool as issuer: people sign in and have groups, programs have app clients and scopes. */
export class UserPoolIssuer extends Construct {
  readonly pool: UserPool;
  /** The app client for people: the console and the command line. */
  readonly people: UserPoolClient;
  readonly programs: ReadonlyMap<string, UserPoolClient>;

  constructor(scope: Construct, id: string, { name, removalPolicy, clients }: UserPoolIssuerProps) {
    super(scope, id);
    this.pool = new UserPool(this, 'Pool', {
      userPoolName: name,
      selfSignUpEnabled: false,
      signInAliases: { email: true },
      mfa: Mfa.REQUIRED,
      mfaSecondFactor: { otp: true, sms: false },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      passwordPolicy: { minLength: 12, requireDigits: true, requireLowercase: true, requireUppercase: true, requireSymbols: true },
      customAttributes: { client: new StringAttribute({ minLen: 1, maxLen: 128, mutable: true }) },
      featurePlan: FeaturePlan.ESSENTIALS,
      removalPolicy,
    });
    const scopes = userRoles.map((role) => new ResourceServerScope({ scopeName: role, scopeDescription: `May act as ${role}` }));
    const server = this.pool.addResourceServer('Redress', { identifier: 'redress', scopes });
    for (const groupName of userRoles) new UserPoolGroup(this, `Group-${groupName}`, { userPool: this.pool, groupName });
    const domainPrefix = `${name}-${Stack.of(this).account}`;
    this.pool.addDomain('Domain', { cognitoDomain: { domainPrefix } });
    this.people = this.pool.addClient('People', {
      // Besides SRP, an administrator of the account can sign people in with the AWS command line.
      authFlows: { userSrp: true, adminUserPassword: true },
      accessTokenValidity: Duration.hours(1),
      idTokenValidity: Duration.hours(1),
      refreshTokenValidity: Duration.days(1),
      preventUserExistenceErrors: true,
      enableTokenRevocation: true,
      disableOAuth: true,
      // Users must not choose their client themselves.
      readAttributes: new ClientAttributes().withStandardAttributes({ email: true }).withCustomAttributes('client'),
      writeAttributes: new ClientAttributes().withStandardAttributes({ givenName: true, familyName: true }),
    });
    const [client] = scopes;
    this.programs = new Map(
      clients.map((program) => [program, this.programClient(program, client ? [OAuthScope.resourceServer(server, client)] : [])]),
    );
  }

  private programClient(program: string, scopes: OAuthScope[]): UserPoolClient {
    const client = this.pool.addClient(`Program-${program}`, {
      userPoolClientName: program,
      generateSecret: true,
      accessTokenValidity: Duration.hours(1),
      oAuth: { flows: { clientCredentials: true }, scopes },
    });
    // Without a list, Cognito also lets people sign in with a password. It accepts no empty list.
    (client.node.defaultChild as CfnUserPoolClient).explicitAuthFlows = ['ALLOW_REFRESH_TOKEN_AUTH'];
    return client;
  }

  /** The `iss` of its tokens. */
  get issuer(): string {
    return `https://cognito-idp.${Stack.of(this).region}.amazonaws.com/${this.pool.userPoolId}`;
  }

  /** The app clients of the stack. The `client_id` or `aud` of each token is one of them. */
  get audience(): readonly string[] {
    return [this.people, ...this.programs.values()].map(({ userPoolClientId }) => userPoolClientId);
  }

  /** The variables that configure the `api` function for this issuer. */
  get environment(): { readonly [name: string]: string } {
    const programs = [...this.programs].map(([program, { userPoolClientId }]) => [userPoolClientId, program]);
    return {
      REDRESS_ISSUER: this.issuer,
      REDRESS_AUDIENCE: this.audience.join(','),
      REDRESS_CLAIMS: 'cognito',
      ...(programs.length > 0 ? { REDRESS_CLIENTS: Stack.of(this).toJsonString(Object.fromEntries(programs)) } : {}),
    };
  }
}

/**
 * Whether API Gateway checks tokens before the function does. It also fetches the keys of the issuer itself. So it needs RSA keys and a
 * discovery document there, which only a user pool has for certain.
 */
export interface AuthorizerSettings {
  /** Further values of `aud` or `client_id` that pass, such as app clients that are registered later. Default: none. */
  readonly audience?: readonly string[];
}

/** Returns the tokens that API Gateway lets through; undefined if it checks none. */
export function checkedTokens(
  users: UserPoolIssuer | undefined,
  external: ExternalIssuer | undefined,
  authorizer: AuthorizerSettings | undefined,
): TokenCheck | undefined {
  if (!authorizer) return undefined;
  const { audience: further = [] } = authorizer;
  if (users) return { issuer: users.issuer, audience: [...users.audience, ...further] };
  return external && { issuer: external.issuer, audience: [...external.audience.split(','), ...further] };
}

export const environmentOf = ({ issuer, audience, keys }: ExternalIssuer): { readonly [name: string]: string } => ({
  REDRESS_ISSUER: issuer,
  REDRESS_AUDIENCE: audience,
  ...(keys === undefined ? {} : { REDRESS_ISSUER_KEYS: keys }),
});
