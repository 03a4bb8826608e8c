import { deployedText } from './deployed-text.ts';
import { type Rule, resourcesOf } from './template.ts';

interface Limit {
  readonly max: number;
  readonly pattern?: RegExp;
}

const description = (max: number): Limit => ({ max });

/** The limits of names and descriptions, from the service quotas and the resource reference of CloudFormation. */
const limits: { readonly [type: string]: { readonly [property: string]: Limit } } = {
  'AWS::ApiGatewayV2::Api': { Name: { max: 128 }, Description: description(1024) },
  'AWS::CloudWatch::Alarm': { AlarmName: { max: 255 }, AlarmDescription: description(1024) },
  'AWS::CloudWatch::Dashboard': { DashboardName: { max: 255, pattern: /^[A-Za-z0-9_-]+$/ } },
  // Cognito also refuses three words in the name of a domain.
  'AWS::Cognito::UserPoolDomain': { Domain: { max: 63, pattern: /^(?!.*(aws|amazon|cognito))[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/ } },
  'AWS::Cognito::UserPool': { UserPoolName: { max: 128, pattern: /^[\w\s+=,.@-]+$/ } },
  'AWS::Cognito::UserPoolClient': { ClientName: { max: 128, pattern: /^[\w\s+=,.@-]+$/ } },
  'AWS::Events::EventBus': { Name: { max: 256, pattern: /^[/.\-_A-Za-z0-9]+$/ }, Description: description(512) },
  'AWS::Events::Rule': { Name: { max: 64, pattern: /^[.\-_A-Za-z0-9]+$/ }, Description: description(512) },
  'AWS::IAM::Role': { RoleName: { max: 64, pattern: /^[\w+=,.@-]+$/ }, Description: description(1000) },
  'AWS::IAM::ManagedPolicy': { ManagedPolicyName: { max: 128, pattern: /^[\w+=,.@-]+$/ }, Description: description(1000) },
  'AWS::KMS::Key': { Description: description(8192) },
  'AWS::KMS::Alias': { AliasName: { max: 256, pattern: /^alias\/(?!aws\/)[A-Za-z0-9/_-]+$/ } },
  'AWS::Lambda::Function': { FunctionName: { max: 64, pattern: /^[A-Za-z0-9-_]+$/ }, Description: description(256) },
  'AWS::Logs::LogGroup': { LogGroupName: { max: 512, pattern: /^[.\-_/#A-Za-z0-9]+$/ } },
  'AWS::SNS::Topic': { TopicName: { max: 256, pattern: /^[A-Za-z0-9_-]+$/ }, DisplayName: { max: 100 } },
  'AWS::SQS::Queue': { QueueName: { max: 80, pattern: /^[A-Za-z0-9_-]+$/ } },
  'AWS::SecretsManager::Secret': { Name: { max: 512 }, Description: description(2048) },
};

const remedy =
  'Choose another `name` of OrderProcessing, of the agent or of the client: a short one of lowercase letters, digits and "-". If a description is refused, shorten it in the code of the app.';

/** Finds names and descriptions that are too long or have characters that AWS refuses. */
export const nameLimits: Rule = (template) =>
  Object.entries(limits).flatMap(([type, properties]) =>
    resourcesOf(template, type).flatMap(([resource, given]) =>
      Object.entries(properties).flatMap(([property, { max, pattern }]) => {
        if (given[property] === undefined) return [];
        const text = deployedText(template, given[property]);
        if (text.length <= max && (pattern?.test(text) ?? true)) return [];
        const problem =
          text.length > max
            ? `"${text.slice(0, 80)}" has ${text.length} characters; AWS allows ${max}.`
            : `"${text.slice(0, 80)}" does not match ${pattern?.source}, which AWS requires.`;
        return [{ rule: 'InvalidName', resource, property, problem, remedy }];
      }),
    ),
  );
