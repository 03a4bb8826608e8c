import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { LocalIssuer } from '#api/local-issuer';

/**
 * The port of the OpenID issuer for people, on this machine. The deployed API gives its address to the console, which signs people in
 * there. The API knows the keys of the tokens from its configuration.
 */
const port = Number(process.env['SIGN_IN_PORT'] || 4001);
const issuerUrl = `http://127.0.0.1:${port}`;

/** The app client of the console at that issuer. */
export const consoleClient = { clientId: 'console', authorizeUrl: `${issuerUrl}/authorize`, tokenUrl: `${issuerUrl}/token` } as const;

/**
 * Starts an OpenID issuer that signs in everybody as this subject, an operator. It gives an authorization code once, for one redirect URI
 * and one PKCE challenge, as RFC 6749 and RFC 7636 say.
 */
export async function startSignIn({ sign }: Pick<LocalIssuer, 'sign'>, subject: string): Promise<{ close(): Promise<void> }> {
  const codes = new Map<string, { readonly redirect: string; readonly challenge: string }>();

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const [redirect, challenge] = [query.get('redirect_uri'), query.get('code_challenge')];
    const isGood = query.get('client_id') === consoleClient.clientId && query.get('code_challenge_method') === 'S256';
    if (!isGood || redirect === null || challenge === null) return void response.writeHead(400).end();
    const code = randomBytes(16).toString('base64url');
    codes.set(code, { redirect, challenge });
    const back = new URL(redirect);
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    response.writeHead(302, { location: back.href }).end();
  }

  async function exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    const known = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isGood = known?.challenge === challenge && known.redirect === form.get('redirect_uri');
    const answer = isGood
      ? { access_token: await sign({ role: 'operator', subject }), token_type: 'Bearer', expires_in: 3600 }
      : { error: 'invalid_grant' };
    const headers = { 'content-type': 'application/json', 'access-control-allow-origin': request.headers.origin ?? '*' };
    response.writeHead(isGood ? 200 : 400, headers).end(JSON.stringify(answer));
  }

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuerUrl);
    if (pathname === '/authorize') authorize(searchParams, response);
    else if (pathname === '/token') void exchange(request, response);
    else response.writeHead(404).end();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
