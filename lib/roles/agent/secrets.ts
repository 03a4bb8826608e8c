import type { AnyOperation } from '#authoring/agent';
import { schemasOf } from '#authoring/catalog';
import { secretPointers, secretTexts, withoutTexts } from '#core/definition/secrets';
import type { Request } from '#ports/messages';
import type { Result } from './results.ts';

interface Requested {
  readonly request: Request;
  readonly operation: AnyOperation;
}

/** Returns the texts of a request's input that its operation marks as secret. */
export const inputSecretsOf = ({ request, operation }: Requested): readonly string[] =>
  secretTexts(request.input, secretPointers(schemasOf(operation).input));

/** Returns a result in which no fault quotes a secret of the request. The scheduler removes the secrets of the order. */
export function withoutInputSecrets(result: Result, requested: Requested): Result {
  if (result.status !== 'failed') return result;
  const { message, data, ...fault } = result.fault;
  const hidden = withoutTexts({ message, ...(data === undefined ? {} : { data }) }, inputSecretsOf(requested));
  return { status: 'failed', fault: { ...fault, ...hidden } };
}
