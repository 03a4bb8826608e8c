import { Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AccountRecovery,
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

export const userRoles = ['client', 'operator', 'admin'] as const;

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
      clients.map((program) => [
        program,
        this.pool.addClient(`Program-${program}`, {
          userPoolClientName: program,
          generateSecret: true,
          accessTokenValidity: Duration.hours(1),
          oAuth: { flows: { clientCredentials: true }, scopes: client ? [OAuthScope.resourceServer(server, client)] : [] },
        }),
      ]),
    );
  }

  /** The variables that configure the `api` function for this issuer. */
  get environment(): { readonly [name: string]: string } {
    const programs = [...this.programs].map(([program, { userPoolClientId }]) => [userPoolClientId, program]);
    return {
      REDRESS_ISSUER: `https://cognito-idp.${Stack.of(this).region}.amazonaws.com/${this.pool.userPoolId}`,
      REDRESS_AUDIENCE: [this.people, ...this.programs.values()].map(({ userPoolClientId }) => userPoolClientId).join(','),
      REDRESS_CLAIMS: 'cognito',
      ...(programs.length > 0 ? { REDRESS_CLIENTS: Stack.of(this).toJsonString(Object.fromEntries(programs)) } : {}),
    };
  }
}

export const environmentOf = ({ issuer, audience, keys }: ExternalIssuer): { readonly [name: string]: string } => ({
  REDRESS_ISSUER: issuer,
  REDRESS_AUDIENCE: audience,
  ...(keys === undefined ? {} : { REDRESS_ISSUER_KEYS: keys }),
});
