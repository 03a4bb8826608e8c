import type { RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { HttpApi, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

export interface EntranceProps {
  readonly name: string;
  readonly handler: IFunction;
  readonly key: IKey;
  readonly logRetention: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
  /** Requests a second and burst size beyond which API Gateway refuses requests. */
  readonly throttle: { readonly rateLimit: number; readonly burstLimit: number };
}

/** The access log line of each call, without any of its content. */
const accessLine = {
  requestId: '$context.requestId',
  time: '$context.requestTime',
  ip: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  path: '$context.path',
  status: '$context.status',
  bytes: '$context.responseLength',
  ms: '$context.responseLatency',
  error: '$context.integrationErrorMessage',
};

/** The HTTP API. One function answers every request, including those to unknown routes. */
export class Entrance extends Construct {
  readonly api: HttpApi;
  readonly url: string;

  constructor(scope: Construct, id: string, { name, handler, key, logRetention, removalPolicy, throttle }: EntranceProps) {
    super(scope, id);
    this.api = new HttpApi(this, 'Api', {
      apiName: name,
      createDefaultStage: false,
      defaultIntegration: new HttpLambdaIntegration('ToFunction', handler),
    });
    const log = new LogGroup(this, 'AccessLog', { retention: logRetention, encryptionKey: key, removalPolicy });
    new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle,
      accessLogSettings: { destination: new LogGroupLogDestination(log), format: AccessLogFormat.custom(JSON.stringify(accessLine)) },
      detailedMetricsEnabled: true,
    });
    this.url = this.api.apiEndpoint;
  }
}
