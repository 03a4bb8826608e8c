import type { SignIn } from './sign-in.ts';

/**
 * Returns the policy of the console's page: scripts and styles of this origin alone, no inline ones, and requests to this origin and to
 * the token endpoint of the issuer. With Trusted Types, no text becomes markup or code.
 */
export function consolePolicy(signIn: SignIn | undefined): string {
  const issuer = signIn?.kind === 'issuer' ? ` ${new URL(signIn.tokenUrl).origin}` : '';
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self'${issuer}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
