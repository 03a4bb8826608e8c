import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IParameter } from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import type { CredentialPlace } from '#adapters/aws/credentials';
import { SetupError } from '#ports/errors';

/** A secret of Secrets Manager, or one field of its JSON; or a parameter of Systems Manager, such as a SecureString. */
export type AgentCredential =
  | { readonly secret: ISecret; readonly field?: string }
  | {
      readonly parameter: Pick<IParameter, 'parameterName' | 'parameterArn'>;
      /** The KMS key of the parameter, unless it is the key that AWS manages. */
      readonly key?: IKey;
    };

/** Credentials by the names under which operations ask for them: `{ PAYMENT_KEY: { secret } }`. */
export interface AgentCredentials {
  readonly [name: string]: AgentCredential;
}

/** Returns the variable that tells a function where its credentials are stored. It holds no value of a credential. */
export function credentialsVariable(scope: Construct, credentials: AgentCredentials): { readonly [name: string]: string } {
  const wrong = Object.keys(credentials).find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (wrong !== undefined)
    throw new SetupError(
      `Invalid name of a credential "${wrong}": expected letters, digits and "_", as for a variable.`,
      'Choose a name such as PAYMENT_KEY, and use it in call.credential(…).',
    );
  const places = Object.entries(credentials).map(([name, each]): [string, CredentialPlace] => [name, placeOf(each)]);
  return places.length === 0 ? {} : { REDRESS_CREDENTIALS: Stack.of(scope).toJsonString(Object.fromEntries(places)) };
}

const placeOf = (credential: AgentCredential): CredentialPlace =>
  'parameter' in credential
    ? { parameter: credential.parameter.parameterName }
    : { secret: credential.secret.secretArn, ...(credential.field === undefined ? {} : { field: credential.field }) };

/** Returns the rights to read these credentials, and to decrypt them with their keys. The keys may be used for nothing else. */
export function credentialStatements(scope: Construct, credentials: AgentCredentials): readonly PolicyStatement[] {
  const all = Object.values(credentials);
  const secrets = all.flatMap((each) => ('secret' in each ? [each.secret] : []));
  const parameters = all.flatMap((each) => ('parameter' in each ? [each] : []));
  const allow = (action: string, resources: readonly string[], conditions = {}): readonly PolicyStatement[] =>
    resources.length === 0 ? [] : [new PolicyStatement({ actions: [action], resources: [...new Set(resources)], conditions })];
  const decrypt = (service: string, keys: readonly (IKey | undefined)[]) =>
    allow(
      'kms:Decrypt',
      keys.flatMap((key) => (key ? [key.keyArn] : [])),
      { StringEquals: { 'kms:ViaService': `${service}.${Stack.of(scope).region}.amazonaws.com` } },
    );
  return [
    ...allow('secretsmanager:GetSecretValue', secrets.map(arnOf)),
    ...decrypt(
      'secretsmanager',
      secrets.map(({ encryptionKey }) => encryptionKey),
    ),
    ...allow(
      'ssm:GetParameter',
      parameters.map(({ parameter }) => parameter.parameterArn),
    ),
    ...decrypt(
      'ssm',
      parameters.map(({ key }) => key),
    ),
  ];
}

/**
 * Returns the ARN of a secret. The ARN of an imported secret may lack the six characters that Secrets Manager adds: `?` matches each.
 */
const arnOf = ({ secretArn, secretFullArn }: ISecret): string => secretFullArn ?? `${secretArn}-??????`;
