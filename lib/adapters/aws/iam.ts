/** One permission that IAM checks before it serves a call. */
export interface IamQuestion {
  /** The action: `dynamodb:PutItem`. */
  readonly action: string;
  /** The resource by its name in the call: `table/orders/index/worklist`, `queue/redress-wake-ups`, `event-bus/redress`. */
  readonly resource: string;
}

type Input = { readonly [name: string]: unknown };

/** Returns the permissions of a call. Empty for calls that this system does not make. */
export function questionsOf(service: string, operation: string, input: Input): readonly IamQuestion[] {
  switch (service) {
    case 'DynamoDB':
      return aboutTable(operation, input);
    case 'SQS':
      // A batch needs the permission of its single action.
      return [{ action: `sqs:${operation.replace(/Batch$/, '')}`, resource: `queue/${queueIn(input)}` }];
    case 'EventBridge':
      return unique(
        listIn(input, 'Entries').map(({ EventBusName }) => ({ action: `events:${operation}`, resource: `event-bus/${EventBusName}` })),
      );
    case 'Lambda':
      return [{ action: `lambda:${operation}`, resource: input['UUID'] ? `event-source-mapping:${input['UUID']}` : '*' }];
    default:
      return [];
  }
}

function aboutTable(operation: string, input: Input): readonly IamQuestion[] {
  const about = (action: string, table: unknown): IamQuestion => ({ action: `dynamodb:${action}`, resource: `table/${table}` });
  if (operation === 'BatchGetItem') return Object.keys((input['RequestItems'] ?? {}) as Input).map((table) => about(operation, table));
  if (operation !== 'TransactWriteItems')
    return [about(operation, input['IndexName'] ? `${input['TableName']}/index/${input['IndexName']}` : input['TableName'])];
  // IAM checks each part of a transaction like a single call.
  return unique(
    listIn(input, 'TransactItems').flatMap((item) =>
      Object.entries(item).map(([part, { TableName }]) => about(part.endsWith('Check') ? 'ConditionCheckItem' : `${part}Item`, TableName)),
    ),
  );
}

const queueIn = ({ QueueName, QueueUrl }: Input): string => String(QueueName ?? String(QueueUrl).split('/').at(-1));

const listIn = (input: Input, name: string) => (input[name] ?? []) as readonly { readonly [part: string]: Input }[];

const unique = (questions: readonly IamQuestion[]): readonly IamQuestion[] => [
  ...new Map(questions.map((question) => [`${question.action} ${question.resource}`, question])).values(),
];
