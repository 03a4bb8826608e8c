import { Duration, Lazy, type RemovalPolicy, Stack } from 'aws-cdk-lib';
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
import type { TokenCheck } from './http-api.ts';

/** An external token issuer in place of the stack's user pool. */
export interface ExternalIssuer {
  /** The `iss` of its tokens. */
  readonly issuer: string;
  readonly audience: string;
  /** Its public keys as a JWKS; without them, the API fetches them from the issuer. */
  readonly keys?: string;
  /** The app client of the console at this issuer. Default: nobody can sign in to the console. */
  readonly signIn?: ExternalSignIn;
}

/** A public app client of an OpenID issuer, for an authorization code with PKCE. It must allow the console's address as redirect URI. */
export interface ExternalSignIn {
  readonly clientId: string;
  readonly authorizeUrl: string;
  /** The address that gives tokens. It must allow requests of the console's origin (CORS). */
  readonly tokenUrl: string;
  /** Default: `openid`. */
  readonly scope?: string;
}

/** The addresses to which the sign-in of the user pool may send people back. */
export interface SignIn {
  /**
   * The exact addresses after a sign-in. Default: the address of the console of `npm start` on localhost, and that of the API, which serves
   * the deployed console.
   */
  readonly callbackUrls?: readonly string[];
  /** The exact addresses after a sign-out. Default: the same as `callbackUrls`. */
  readonly logoutUrls?: readonly string[];
}

export interface UserPoolIssuerProps extends SignIn {
  readonly name: string;
  readonly removalPolicy: RemovalPolicy;
  readonly deletionProtection: boolean;
  /**
   * Returns the address of the API. This function is called when the template is written, because the API is created after its issuer.
   */
  readonly apiUrl: () => string;
  /** Programs that submit orders; each gets an app client (client credentials). */
  readonly clients: readonly string[];
}

/**
 * The authentication flows of an app client that only refreshes tokens by them. The CDK adds the flow of refresh tokens to any list that is
 * given. Without a list, Cognito would also let people sign in with a password.
 */
const refreshOnly = { userSrp: false };
/** The console of `npm start`. */
const consoleUrl = 'http://localhost:3000/';

export const userRoles = ['client', 'viewer', 'operator', 'admin'] as const;

/** The stack's user pool as issuer: people sign in and have groups, programs have app clients and scopes. */
export class UserPoolIssuer extends Construct {
  readonly pool: UserPool;
  /** The app client for people: the console and the command line. */
  readonly people: UserPoolClient;
  readonly programs: ReadonlyMap<string, UserPoolClient>;
  /** The address at which people sign in, and programs request tokens. */
  readonly signInUrl: string;

  constructor(scope: Construct, id: string, props: UserPoolIssuerProps) {
    super(scope, id);
    const { name, removalPolicy, deletionProtection, clients, apiUrl } = props;
    const usual = Lazy.list({ produce: () => [consoleUrl, `${apiUrl()}/`] });
    const { callbackUrls = usual, logoutUrls = callbackUrls } = props;
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
      deletionProtection,
    });
    const scopes = userRoles.map((role) => new ResourceServerScope({ scopeName: role, scopeDescription: `May act as ${role}` }));
    const server = this.pool.addResourceServer('Redress', { identifier: 'redress', scopes });
    for (const groupName of userRoles) new UserPoolGroup(this, `Group-${groupName}`, { userPool: this.pool, groupName });
    const domainPrefix = `${name}-${Stack.of(this).account}`;
    this.pool.addDomain('Domain', { cognitoDomain: { domainPrefix } });
    this.signInUrl = `https://${domainPrefix}.auth.${Stack.of(this).region}.amazoncognito.com`;
    this.people = this.pool.addClient('People', {
      // People sign in at the user pool's own page, with an authorization code and PKCE. The client has no secret.
      authFlows: refreshOnly,
      oAuth: {
        flows: { authorizationCodeGrant: true },
        scopes: [OAuthScope.OPENID, OAuthScope.EMAIL],
        callbackUrls: [...callbackUrls],
        logoutUrls: [...logoutUrls],
      },
      accessTokenValidity: Duration.hours(1),
      idTokenValidity: Duration.hours(1),
      refreshTokenValidity: Duration.days(1),
      preventUserExistenceErrors: true,
      enableTokenRevocation: true,
      // The attribute `client` names the client for whom a person submits orders. People read it, and only an admin writes it.
      readAttributes: new ClientAttributes().withStandardAttributes({ email: true }).withCustomAttributes('client'),
      writeAttributes: new ClientAttributes().withStandardAttributes({ givenName: true, familyName: true }),
    });
    const [client] = scopes;
    this.programs = new Map(
      clients.map((program) => [program, this.programClient(program, client ? [OAuthScope.resourceServer(server, client)] : [])]),
    );
  }

  private programClient(program: string, scopes: OAuthScope[]): UserPoolClient {
    return this.pool.addClient(`Program-${program}`, {
      userPoolClientName: program,
      generateSecret: true,
      authFlows: refreshOnly,
      accessTokenValidity: Duration.hours(1),
      oAuth: { flows: { clientCredentials: true }, scopes },
    });
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
      ...signInEnvironment({
        clientId: this.people.userPoolClientId,
        authorizeUrl: `${this.signInUrl}/oauth2/authorize`,
        tokenUrl: `${this.signInUrl}/oauth2/token`,
        scope: 'openid email',
      }),
      ...(programs.length > 0 ? { REDRESS_CLIENTS: Stack.of(this).toJsonString(Object.fromEntries(programs)) } : {}),
    };
  }
}

/**
 * Settings of the check of tokens by API Gateway, before the function checks them. API Gateway fetches the keys of the issuer itself, so
 * the issuer must have RSA keys and a discovery document. Only a user pool has them for certain.
 */
export interface AuthorizerSettings {
  /** Further values of `aud` or `client_id` that pass, such as app clients that are registered later. Default: none. */
  readonly audience?: readonly string[];
}

/** Returns which tokens API Gateway lets through; undefined if it checks no tokens. */
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

export const environmentOf = ({ issuer, audience, keys, signIn }: ExternalIssuer): { readonly [name: string]: string } => ({
  REDRESS_ISSUER: issuer,
  REDRESS_AUDIENCE: audience,
  ...(keys === undefined ? {} : { REDRESS_ISSUER_KEYS: keys }),
  ...(signIn === undefined ? {} : signInEnvironment(signIn)),
});

/** The variables with which the API tells the console where people sign in. */
const signInEnvironment = ({ clientId, authorizeUrl, tokenUrl, scope }: ExternalSignIn): { readonly [name: string]: string } => ({
  REDRESS_SIGN_IN_CLIENT: clientId,
  REDRESS_SIGN_IN_AUTHORIZE_URL: authorizeUrl,
  REDRESS_SIGN_IN_TOKEN_URL: tokenUrl,
  ...(scope === undefined ? {} : { REDRESS_SIGN_IN_SCOPE: scope }),
});
