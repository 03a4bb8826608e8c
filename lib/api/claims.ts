import type { JWTPayload } from 'jose';

/** What a good token says, in the words of this system. */
export interface Claims {
  /** For whom it was made out: one name or several. */
  readonly audience: unknown;
  readonly roles: unknown;
  /** The client whose orders its bearer may see and submit. */
  readonly client: unknown;
}

/** Reads the claims as an issuer writes them; undefined where they make no sense. */
export type ReadClaims = (payload: JWTPayload) => Claims | undefined;

export const standardClaims: ReadClaims = ({ aud, roles: granted, client }) => ({ audience: aud, roles: granted, client });

/**
 * Tokens of a Cognito user pool. ID tokens are made out for an app client, access tokens by one: they have no audience.
 * `clientOf` knows whose orders an app client submits; only access tokens need it, for they carry no attributes of a user.
 */
export const cognitoClaims =
  (clientOf: (appClient: string) => string | undefined): ReadClaims =>
  ({ token_use: use, aud, sub, client_id: appClient, scope, 'cognito:groups': groups, 'custom:client': client }) => {
    const named: readonly unknown[] = Array.isArray(groups) ? groups : [];
    if (use === 'id') return { audience: aud, roles: named, client };
    if (use !== 'access' || typeof appClient !== 'string') return undefined;
    // A scope says what a program may do. Where a user signed in to the program, what he may do is for his groups to say.
    const isOfProgram = sub === appClient;
    return { audience: appClient, roles: isOfProgram ? [...named, ...rolesIn(scope)] : named, client: clientOf(appClient) };
  };

/** What the stack names the resource server of its user pool. */
const resourceServer = 'redress/';

const rolesIn = (scope: unknown): readonly string[] =>
  typeof scope === 'string'
    ? scope
        .split(' ')
        .filter((each) => each.startsWith(resourceServer))
        .map((each) => each.slice(resourceServer.length))
    : [];
