import { listIn, objectIn, type Properties, type Template } from './template.ts';

/** Stand-ins for the pseudo parameters of CloudFormation: long values of the partition `aws`, and a stack name of 32 characters. */
const pseudo: { readonly [name: string]: string } = {
  'AWS::AccountId': '123456789012',
  'AWS::Partition': 'aws',
  'AWS::Region': 'ap-southeast-2',
  'AWS::StackName': 'x'.repeat(32),
  'AWS::URLSuffix': 'amazonaws.com',
};

/** The property that names a resource, and its ARN from the service up to the name. `R` and `A` stand for the region and the account. */
const named: { readonly [type: string]: readonly [property: string, arnStart: string] } = {
  'AWS::SQS::Queue': ['QueueName', 'sqs:R:A:'],
  'AWS::SNS::Topic': ['TopicName', 'sns:R:A:'],
  'AWS::Events::EventBus': ['Name', 'events:R:A:event-bus/'],
  'AWS::DynamoDB::GlobalTable': ['TableName', 'dynamodb:R:A:table/'],
  'AWS::KMS::Key': ['', 'kms:R:A:key/'],
  'AWS::Lambda::Function': ['FunctionName', 'lambda:R:A:function:'],
  'AWS::Logs::LogGroup': ['LogGroupName', 'logs:R:A:log-group:'],
  'AWS::SecretsManager::Secret': ['Name', 'secretsmanager:R:A:secret:'],
};

/** The length of a name that CloudFormation chooses. */
const chosenLength = 64;
/** The lengths of ids that AWS chooses, which are shorter. */
const idLengths: { readonly [type: string]: number } = {
  'AWS::Cognito::UserPoolClient': 26,
  'AWS::Cognito::UserPool': 24,
  'AWS::KMS::Key': 36,
};

/** Returns a value of a template as text, about as long as in a deployment. */
export function deployedText(template: Template, value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return value.map((each) => deployedText(template, each)).join(',');
  const [[key, argument] = ['', undefined]] = Object.entries(value);
  switch (key) {
    case 'Ref':
      return pseudo[String(argument)] ?? nameOf(template, String(argument));
    case 'Fn::GetAtt':
      return attributeOf(template, listIn(argument).map(String));
    case 'Fn::Join': {
      const [separator, parts] = listIn(argument);
      return listIn(parts)
        .map((each) => deployedText(template, each))
        .join(String(separator));
    }
    case 'Fn::Sub':
      return String(listIn(argument)[0]).replaceAll(/\$\{([^}]+)\}/g, (_, name: string) => pseudo[name] ?? 'x'.repeat(chosenLength));
    case 'Fn::Select': {
      const [index, values] = listIn(argument);
      const parts = Array.isArray(values) ? values.map((each) => deployedText(template, each)) : deployedText(template, values).split('\n');
      return parts[Number(index)] ?? 'x'.repeat(chosenLength);
    }
    case 'Fn::Split': {
      const [separator, text] = listIn(argument);
      return deployedText(template, text).split(String(separator)).join('\n');
    }
    default:
      return 'x'.repeat(chosenLength);
  }
}

/** Returns a value with all text as deployed, to measure its JSON. */
export function deployedJson(template: Template, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => deployedJson(template, each));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [[key] = ['']] = entries;
  if (entries.length === 1 && (key === 'Ref' || key.startsWith('Fn::'))) return deployedText(template, value);
  return Object.fromEntries(entries.map(([name, each]) => [name, deployedJson(template, each)]));
}

function nameOf(template: Template, id: string): string {
  const { Type = '', Properties = {} } = template.Resources[id] ?? {};
  const [property = ''] = named[Type] ?? [];
  const given = property === '' ? undefined : Properties[property];
  const name = given === undefined ? 'x'.repeat(idLengths[Type] ?? chosenLength) : deployedText(template, given);
  // For a rule of a custom bus, CloudFormation replaces `Ref` by the names of the bus and of the rule.
  return Type === 'AWS::Events::Rule' && Properties['EventBusName'] !== undefined
    ? `${deployedText(template, Properties['EventBusName'])}|${name}`
    : name;
}

function attributeOf(template: Template, [id = '', attribute = '']: readonly string[]): string {
  const [, start] = named[template.Resources[id]?.Type ?? ''] ?? [];
  if (attribute !== 'Arn' && attribute !== 'TopicArn') return nameOf(template, id);
  return `arn:aws:${(start ?? 'service:R:A:type/').replace('R', 'ap-southeast-2').replace('A', '123456789012')}${nameOf(template, id)}`;
}

/** Calls `see` for each object in a value, at any depth. */
export function everyObject(
  value: unknown,
  see: (object: Properties, within: readonly string[]) => void,
  within: readonly string[] = [],
): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) see(objectIn(value), within);
  for (const [key, each] of Object.entries(value)) everyObject(each, see, [...within, key]);
}
