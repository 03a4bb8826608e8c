import { ofType, type Resources, region, type Synthesized } from './support.ts';

interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: { readonly [operator: string]: { readonly [key: string]: unknown } };
}

/** Returns the statements of a role, by its logical id. */
export const statementsOf = (synthesized: Synthesized, roleId: string): readonly Statement[] =>
  ofType(synthesized, 'IAM::Policy')
    .map(
      ([, { Properties }]) =>
        Properties as unknown as { Roles: readonly { Ref: string }[]; PolicyDocument: { Statement: readonly Statement[] } },
    )
    .filter(({ Roles }) => Roles.some(({ Ref }) => Ref === roleId))
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement);

/** Returns the rights in statements, one action on one resource each: `sqs:SendMessage queue/wake-ups`. */
export const allowedBy = (statements: readonly Statement[], { resources, orders }: Synthesized): ReadonlySet<string> =>
  new Set(
    statements
      .filter(({ Effect }) => Effect === 'Allow')
      .flatMap(({ Action, Resource }) =>
        listOf(Action).flatMap((action) =>
          listOf(Resource).map((resource) => `${action} ${nameOf(resource, resources, orders.queuePrefix)}`),
        ),
      ),
  );

const listOf = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

/** Returns the name in the system of a resource in a statement. */
export function nameOf(resource: unknown, resources: Resources, prefix: string): string {
  if (typeof resource === 'string') return resource;
  const {
    Ref,
    'Fn::GetAtt': attribute,
    'Fn::Join': joined,
  } = resource as { Ref?: string; 'Fn::GetAtt'?: [string]; 'Fn::Join'?: [string, unknown[]] };
  if (joined) return joinedName(joined[1], resources, prefix);
  const { Type, Properties } = resources[Ref ?? attribute?.[0] ?? ''] ?? { Type: String(Ref), Properties: {} };
  switch (Type) {
    case 'AWS::SQS::Queue':
      return `queue/${String(Properties['QueueName'] ?? 'undelivered').replace(prefix, '')}`;
    case 'AWS::DynamoDB::GlobalTable':
      return 'table';
    case 'AWS::Events::EventBus':
      return 'event-bus';
    case 'AWS::Logs::LogGroup':
      return `log-group/${attribute?.[0]}`;
    default:
      return Type.replace('AWS::', '');
  }
}

/** Returns the name for the parts of an ARN: an index of the table, or the queues of this account and region with a common prefix. */
function joinedName(parts: readonly unknown[], resources: Resources, prefix: string): string {
  const names = parts.map((part) => (typeof part === 'string' ? part : nameOf(part, resources, prefix)));
  return names
    .join('')
    .replace(`arn:Partition:sqs:${region}:AccountId:`, 'queue/')
    .replace(`arn:Partition:lambda:${region}:AccountId:`, '');
}
