import { PermanentFailure, TransientFailure } from '#authoring/fault';
import type { Credentials } from '#ports/credentials';
import { isRepeated, type Request } from '#ports/messages';

/** Returns the function that reads a credential for one request. It adds each value to `secrets`, the texts that no fault may quote. */
export function credentialsFor(request: Request, credentials: Credentials, secrets: string[]): (name: string) => Promise<string> {
  return async (name) => {
    const value = await credentials.read(name).catch(() => {
      throw new TransientFailure(`The credential ${name} cannot be read at present.`);
    });
    if (value === undefined || value === '')
      throw new PermanentFailure(
        'NotConfigured',
        `The credential ${name} is not set. Set the variable ${name} or ${name}_FILE, or on AWS \`agentCredentials\` of OrderProcessing.`,
        { outcomeUnknown: isRepeated(request) },
      );
    secrets.push(value);
    return value;
  };
}
