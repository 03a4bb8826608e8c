import { ofType, type Resources, region, type Synthesized } from './support.ts';

export interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: { readonly [operator: string]: { readonly [key: string]: unknown } };
}

/** Returns the statements of a role, by its logical id. CDK moves those that do not fit into its own policy to a managed one. */
export const statementsOf = (synthesized: Synthesized, roleId: string): readonly Statement[] =>
  [...ofType(synthesized, 'IAM::Policy'), ...ofType(synthesized, 'IAM::ManagedPolicy')]
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

/** The part of a call that a condition of a statement needs. */
export interface Call {
  readonly partition?: string;
  /** The attributes that it names. A read without them returns whole items. */
  readonly attributes?: readonly string[];
  /** It asks for the whole item after a write, or after a refused one. */
  readonly returnsAll?: true;
}

/** Returns the partitions of a statement, with `*` for any end; undefined without a condition on them. */
export const partitionsOf = ({ Condition = {} }: Statement): readonly string[] | undefined =>
  listed(Condition['ForAllValues:StringLike']?.['dynamodb:LeadingKeys']);

/** Whether the conditions of a statement hold for a call, as IAM decides. Conditions on other services count as met. */
export function holdsFor(statement: Statement, { partition, attributes, returnsAll }: Call): boolean {
  const { Condition = {} } = statement;
  const partitions = partitionsOf(statement);
  const keys = partition === undefined ? [] : [partition];
  if (partitions && !keys.every((key) => partitions.some((each) => matches(each, key)))) return false;
  if (Condition['Null']?.['dynamodb:LeadingKeys'] === 'false' && keys.length === 0) return false;
  const allowed = listed(Condition['ForAllValues:StringEquals']?.['dynamodb:Attributes']);
  if (!allowed) return true;
  // AWS documents no condition for the item of a refused write. So no role with a limit on attributes may ask for it.
  if (returnsAll) return false;
  // A read without a projection has the Select ALL_ATTRIBUTES.
  return attributes?.every((each) => allowed.includes(each)) ?? false;
}

/** Whether a name matches a pattern of IAM with at most one `*`, at its end. */
export const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

const listed = (value: unknown): readonly string[] | undefined => (value === undefined ? undefined : [value].flat().map(String));

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
