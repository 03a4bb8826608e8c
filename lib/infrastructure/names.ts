import { Token } from 'aws-cdk-lib';
import { clientIdPattern } from '#api/authentication';
import { SetupError } from '#ports/errors';

/**
 * The longest name of a deployment. Queue names begin with `<name>-`, and this prefix has at most 40 characters (`REDRESS_QUEUE_PREFIX`).
 */
const nameMax = 39;
const namePattern = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
/** Words that Cognito forbids in the name of a domain. */
const reserved = ['aws', 'amazon', 'cognito'];

export interface DeploymentNames {
  readonly name: string;
  readonly clients: readonly string[];
  /** Whether the stack creates a user pool, whose domain also has the name. */
  readonly hasUserPool: boolean;
}

/** Checks names. @throws SetupError for a name that AWS would refuse during the deployment, or the functions at their start. */
export function checkNames({ name, clients, hasUserPool }: DeploymentNames): void {
  if (!Token.isUnresolved(name) && (name.length > nameMax || !namePattern.test(name)))
    throw new SetupError(
      `Invalid deployment name "${name}": expected 1 to ${nameMax} lowercase letters, digits and "-", with a letter or digit at both ends.`,
      `Set \`name\` of OrderProcessing to a name such as "${suggested(name)}".`,
    );
  const word = hasUserPool ? reserved.find((each) => name.includes(each)) : undefined;
  if (word)
    throw new SetupError(
      `Invalid deployment name "${name}": Cognito forbids "${word}" in the domain of the user pool.`,
      'Choose another `name`, or set `issuer` to use your own issuer.',
    );
  const client = clients.find((each) => !Token.isUnresolved(each) && !clientIdPattern.test(each));
  if (client !== undefined) throw new SetupError(`Invalid client id "${client}": expected ${clientIdPattern}.`, 'Correct it in `clients`.');
}

function suggested(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, nameMax);
  return plain.replace(/^-+|-+$/g, '') || 'redress';
}
