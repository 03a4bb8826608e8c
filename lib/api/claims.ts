import type { JWTPayload } from 'jose';

/** The claims of a verified token, in the words of this system. */
export interface Claims {
  /** One audience or several. */
  readonly audience: unknown;
  readonly roles: unknown;
  /** The client whose orders the bearer may see and submit. */
  readonly client: unknown;
  /** The groups of people to which the bearer belongs. */
  readonly groups: unknown;
  /** The app client that requested the token, if the token names no client. The registration of a client names its app clients. */
  readonly appClient?: string;
}

/** Reads the claims as an issuer writes them; returns undefined when the token cannot be one for this API. */
export type ReadClaims = (payload: JWTPayload) => Claims | undefined;

export const standardClaims: ReadClaims = ({ aud, roles: granted, client, groups }) => ({
  audience: aud,
  roles: granted,
  client,
  groups,
});

/**
 * Reads the tokens of a Cognito user pool. The groups of the pool are roles and, with the prefix `team-`, groups of people. An ID token
 * names the app client as its audience. An access token has no audience, and names the app client as `client_id`. An access token carries
 * no user attributes, so the client whose orders the bearer submits follows from the app client.
 */
export const cognitoClaims: ReadClaims = ({
  token_use: use,
  aud,
  sub,
  client_id: appClient,
  scope,
  'cognito:groups': groups,
  'custom:client': client,
}) => {
  const named: readonly unknown[] = Array.isArray(groups) ? groups : [];
  const teams = named.flatMap((group) =>
    typeof group === 'string' && group.startsWith(teamPrefix) ? [group.slice(teamPrefix.length)] : [],
  );
  if (use === 'id') return { audience: aud, roles: named, client, groups: teams };
  if (use !== 'access' || typeof appClient !== 'string') return undefined;
  // Scopes describe an app client. A user who signed in through the app client has the roles of their groups alone.
  const isOfAppClient = sub === appClient;
  return { audience: appClient, roles: isOfAppClient ? [...named, ...rolesIn(scope)] : named, client: undefined, groups: teams, appClient };
};

/** The prefix of the user pool's groups that are teams. The others are roles. */
const teamPrefix = 'team-';
/** The prefix of scopes: the stack's resource server in its user pool. */
const resourceServer = 'redress/';

const rolesIn = (scope: unknown): readonly string[] =>
  typeof scope === 'string'
    ? scope
        .split(' ')
        .filter((each) => each.startsWith(resourceServer))
        .map((each) => each.slice(resourceServer.length))
    : [];
