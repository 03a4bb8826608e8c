import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import type { Clock } from '#ports/clock';
import type { Credentials } from '#ports/credentials';
import { SetupError } from '#ports/errors';
import type { Telemetry } from '#ports/telemetry';
import { jsonIn } from '#ports/util/json';

/** The storage of a credential: a secret of Secrets Manager, perhaps one field of its JSON, or a parameter of Systems Manager. */
const Place = z.union([
  z.strictObject({ secret: z.string().min(1), field: z.string().min(1).optional() }),
  z.strictObject({ parameter: z.string().min(1) }),
]);
export type CredentialPlace = z.output<typeof Place>;

/**
 * Reads from the variable `REDRESS_CREDENTIALS` where each credential is stored. @throws SetupError unless it has the form that the
 * deployment writes.
 */
export function readCredentialPlaces(text: string): ReadonlyMap<string, CredentialPlace> {
  const parsed = z.record(z.string(), Place).safeParse(jsonIn(text));
  if (parsed.success) return new Map(Object.entries(parsed.data));
  throw new SetupError('Invalid REDRESS_CREDENTIALS.', 'Deploy again: `agentCredentials` of OrderProcessing writes this variable.');
}

/** A value is fetched again after this time, so a changed credential is in use within five minutes. */
const refreshMs = 300_000;

/** Fetches the present value of a stored credential. */
export type FetchCredential = (place: CredentialPlace) => Promise<string>;

export interface AwsCredentialsOptions {
  readonly clock: Clock;
  readonly telemetry: Pick<Telemetry, 'log'>;
  readonly fetch?: FetchCredential;
}

interface Known {
  readonly value: string;
  readonly at: number;
}

/**
 * Keeps the values of stored credentials. Concurrent reads share one fetch. If a fetch fails, the previous value is used until a later
 * fetch succeeds. An outdated value is at worst refused by its service; without any value, the agent could not call the service at all.
 */
export function awsCredentials(
  places: ReadonlyMap<string, CredentialPlace>,
  { clock, telemetry, fetch = fetchFromAws }: AwsCredentialsOptions,
): Credentials & { prefetch(): Promise<void> } {
  const known = new Map<string, Known>();
  const fetching = new Map<string, Promise<string>>();

  const fetchOnce = (name: string, place: CredentialPlace): Promise<string> => {
    const running =
      fetching.get(name) ??
      fetch(place)
        .then((value) => {
          known.set(name, { value, at: clock.now() });
          return value;
        })
        .finally(() => fetching.delete(name));
    fetching.set(name, running);
    return running;
  };

  async function read(name: string): Promise<string | undefined> {
    const place = places.get(name);
    if (!place) return undefined;
    const previous = known.get(name);
    if (previous && clock.now() - previous.at < refreshMs) return previous.value;
    try {
      return await fetchOnce(name, place);
    } catch (error) {
      telemetry.log('error', 'cannot read credential', { credential: name, error });
      if (!previous) throw error;
      known.set(name, { ...previous, at: clock.now() });
      return previous.value;
    }
  }

  return {
    read,
    /** Fetches all values, for a cold start. A value that cannot be read now is fetched by the first call that needs it. */
    async prefetch() {
      await Promise.allSettled([...places.keys()].map(read));
    },
  };
}

async function fetchFromAws(place: CredentialPlace): Promise<string> {
  return 'parameter' in place ? parameter(place.parameter) : fieldOf(await secret(place.secret), place);
}

async function secret(SecretId: string): Promise<string> {
  const client = new SecretsManagerClient({});
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId })).finally(() => client.destroy());
  if (SecretString === undefined) throw new Error(`The secret ${SecretId} has no text. Store the credential as text, not as binary.`);
  return SecretString;
}

async function parameter(Name: string): Promise<string> {
  const { GetParameterCommand, SSMClient } = await import('@aws-sdk/client-ssm');
  const client = new SSMClient({});
  const { Parameter } = await client.send(new GetParameterCommand({ Name, WithDecryption: true })).finally(() => client.destroy());
  if (Parameter?.Value === undefined) throw new Error(`The parameter ${Name} of SSM has no value. Store the credential in it.`);
  return Parameter.Value;
}

/** Returns one field of a secret in JSON, or the whole secret. Its error does not quote the secret. */
function fieldOf(text: string, { secret, field }: Extract<CredentialPlace, { secret: string }>): string {
  if (field === undefined) return text;
  const fields = z.record(z.string(), z.unknown()).safeParse(jsonIn(text));
  const value = fields.success ? fields.data[field] : undefined;
  if (typeof value === 'string') return value;
  throw new Error(`The secret ${secret} has no text in its field "${field}". Store it as JSON with this field, or correct \`field\`.`);
}
