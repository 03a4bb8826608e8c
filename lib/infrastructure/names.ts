import { Token } from 'aws-cdk-lib';
import { clientIdPattern } from '#api/authentication';
import { SetupError } from '#ports/errors';

/** Queues are called `<name>-<queue>`: what stands before has 40 letters at most (`REDRESS_QUEUE_PREFIX`). */
const nameMax = 39;
const namePattern = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
/** Cognito takes none of them in the name of a domain. */
const reserved = ['aws', 'amazon', 'cognito'];

export interface DeploymentNames {
  readonly name: string;
  readonly clients: readonly string[];
  /** Whether the stack makes a user pool, whose domain has the name as well. */
  readonly hasUserPool: boolean;
}

/** @throws SetupError for what AWS would refuse in the middle of a deployment, or the functions when they start. */
export function checkNames({ name, clients, hasUserPool }: DeploymentNames): void {
  if (!Token.isUnresolved(name) && (name.length > nameMax || !namePattern.test(name)))
    throw new SetupError(
      `"${name}" cannot name a deployment: expected 1 to ${nameMax} lowercase letters, digits and "-", with a letter or digit at both ends.`,
      `Set \`name\` of OrderProcessing to something like "${suggested(name)}".`,
    );
  const word = hasUserPool ? reserved.find((each) => name.includes(each)) : undefined;
  if (word)
    throw new SetupError(
      `"${name}" cannot name a deployment with a user pool: Cognito reserves "${word}" in the names of domains.`,
      'Choose another `name`, or give an `issuer` of your own.',
    );
  const client = clients.find((each) => !Token.isUnresolved(each) && !clientIdPattern.test(each));
  if (client !== undefined)
    throw new SetupError(`"${client}" cannot be the id of a client: expected ${clientIdPattern}.`, 'Correct it in `clients`.');
}

function suggested(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, nameMax);
  return plain.replace(/^-+|-+$/g, '') || 'redress';
}
