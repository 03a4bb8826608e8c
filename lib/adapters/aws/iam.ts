/** One permission that IAM checks before AWS serves a call. */
export interface IamQuestion {
  /** The action: `dynamodb:PutItem`. */
  readonly action: string;
  /** The resource by its name in the call: `table/orders/index/worklist`, `queue/redress-wake-ups`, `event-bus/redress`. */
  readonly resource: string;
  /** The partition of the table that the call reads or writes. IAM calls it the leading key. */
  readonly partition?: string;
  /** The attributes that the call names. A read without them returns whole items. */
  readonly attributes?: readonly string[];
  /** The call is a write whose answer, or whose refusal, contains the whole item: also the attributes that the call does not name. */
  readonly returnsAll?: true;
}

type Input = { readonly [name: string]: unknown };

/** Returns the permissions that a call needs. Empty for services that have no case below. */
export function questionsOf(service: string, operation: string, input: Input): readonly IamQuestion[] {
  switch (service) {
    case 'DynamoDB':
      return aboutTable(operation, input);
    case 'SQS':
      // A batch needs the permission for the action on a single message.
      return [{ action: `sqs:${operation.replace(/Batch$/, '')}`, resource: `queue/${queueIn(input)}` }];
    case 'EventBridge':
      return unique(
        listIn(input, 'Entries').map(({ EventBusName }) => ({ action: `events:${operation}`, resource: `event-bus/${EventBusName}` })),
      );
    case 'Lambda':
      return [{ action: `lambda:${operation}`, resource: input['UUID'] ? `event-source-mapping:${input['UUID']}` : '*' }];
    case 'KMS':
      return [{ action: `kms:${operation}`, resource: `key/${String(input['KeyId']).split('/').at(-1)}` }];
    default:
      return [];
  }
}

function aboutTable(operation: string, input: Input): readonly IamQuestion[] {
  if (operation === 'BatchGetItem')
    return Object.entries((input['RequestItems'] ?? {}) as Input).flatMap(([table, request]) =>
      listIn(request as Input, 'Keys').map((Key) => aboutItem(operation, { ...(request as Input), TableName: table, Key })),
    );
  if (operation !== 'TransactWriteItems') return [aboutItem(operation, input)];
  // IAM checks each part of a transaction like a single call.
  return unique(
    listIn(input, 'TransactItems').flatMap((item) =>
      Object.entries(item).map(([part, of]) => aboutItem(part.endsWith('Check') ? 'ConditionCheckItem' : `${part}Item`, of)),
    ),
  );
}

function aboutItem(operation: string, input: Input): IamQuestion {
  const { TableName: table, IndexName: index } = input;
  const partition = index === undefined ? partitionIn(input) : undefined;
  const attributes = attributesIn(input);
  return {
    action: `dynamodb:${operation}`,
    resource: index === undefined ? `table/${table}` : `table/${table}/index/${index}`,
    ...(partition === undefined ? {} : { partition }),
    ...(attributes.length === 0 ? {} : { attributes }),
    ...(returnsAll(input) ? { returnsAll: true as const } : {}),
  };
}

const returnsAll = ({ ReturnValues, ReturnValuesOnConditionCheckFailure }: Input): boolean =>
  [ReturnValues, ReturnValuesOnConditionCheckFailure].some((each) => String(each).startsWith('ALL_'));

/** Returns the value of the partition key, from the call's key, its item, or the condition of its query. */
function partitionIn({ Key, Item, KeyConditionExpression, ExpressionAttributeValues }: Input): string | undefined {
  const named = (Key ?? Item) as Input | undefined;
  if (named) return String(named['pk']);
  const [, placeholder] = /^#?\w+ = (:\w+)/.exec(String(KeyConditionExpression ?? '')) ?? [];
  return placeholder === undefined ? undefined : String((ExpressionAttributeValues as Input)[placeholder]);
}

/** Returns the attributes that the expressions of a call name. For a read, IAM checks the attributes of its projection alone. */
function attributesIn(input: Input): readonly string[] {
  const reads = input['ProjectionExpression'] ?? '';
  const writes = input['UpdateExpression'] === undefined ? '' : `${input['UpdateExpression']} ${input['ConditionExpression'] ?? ''}`;
  const names = (input['ExpressionAttributeNames'] ?? {}) as { readonly [placeholder: string]: string };
  const words = `${reads} ${writes}`.match(/(?<![:\w])#?[A-Za-z]\w*/g) ?? [];
  return [...new Set(words.filter((word) => !keywords.has(word)).map((word) => names[word] ?? word))];
}

/** Words of DynamoDB's expressions that this system uses. */
const keywords: ReadonlySet<string> = new Set(['SET', 'REMOVE', 'AND', 'OR', 'attribute_exists', 'attribute_not_exists']);

const queueIn = ({ QueueName, QueueUrl }: Input): string => String(QueueName ?? String(QueueUrl).split('/').at(-1));

const listIn = (input: Input, name: string) => (input[name] ?? []) as readonly { readonly [part: string]: Input }[];

const unique = (questions: readonly IamQuestion[]): readonly IamQuestion[] => [
  ...new Map(questions.map((question) => [JSON.stringify(question), question])).values(),
];
