import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  EndpointType,
  LambdaRestApi,
  LogGroupLogDestination,
  MethodLoggingLevel,
  ResponseType,
  type RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { ApiDomain } from './http-api.ts';

export interface RestApiProps {
  readonly name: string;
  readonly handler: IFunction;
  readonly log: ILogGroup;
  readonly accessLine: { readonly [field: string]: string };
  readonly throttle: { readonly rateLimit: number; readonly burstLimit: number };
  readonly domain: ApiDomain;
  readonly disableExecuteApiEndpoint: boolean;
}

/** The stage of a REST API is part of the address that API Gateway gives, but not of the address at a custom domain. */
const stageName = 'live';

/** Creates the API as a REST API, which takes a web ACL. The function answers every request, as behind the HTTP API. */
export function restApi(scope: Construct, id: string, props: RestApiProps): RestApi {
  const { name, handler, log, accessLine, throttle, domain, disableExecuteApiEndpoint } = props;
  const api = new LambdaRestApi(scope, id, {
    restApiName: name,
    handler,
    proxy: true,
    integrationOptions: { allowTestInvoke: false },
    endpointTypes: [EndpointType.REGIONAL],
    disableExecuteApiEndpoint,
    // The role with which API Gateway writes logs belongs to the account, and another deployment may use it.
    cloudWatchRole: true,
    cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
    deployOptions: {
      stageName,
      throttlingRateLimit: throttle.rateLimit,
      throttlingBurstLimit: throttle.burstLimit,
      accessLogDestination: new LogGroupLogDestination(log),
      accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLine)),
      metricsEnabled: true,
      // Errors of API Gateway itself. No content of a request is among them.
      loggingLevel: MethodLoggingLevel.ERROR,
    },
    domainName: {
      domainName: domain.name,
      certificate: Certificate.fromCertificateArn(scope, 'Certificate', domain.certificateArn),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
    },
  });
  problem(api, 'Throttled', ResponseType.THROTTLED, 'Too many requests', 429);
  problem(api, 'Failed', ResponseType.DEFAULT_5XX, 'Not available', 503);
  return api;
}

/** Gives an answer of API Gateway itself the form of the API's problems. */
function problem(api: RestApi, id: string, type: ResponseType, title: string, status: number): void {
  api.addGatewayResponse(id, {
    type,
    statusCode: String(status),
    responseHeaders: { 'Content-Type': "'application/problem+json'", 'Retry-After': "'1'" },
    templates: { 'application/json': JSON.stringify({ title, status, detail: 'Send the request again.' }) },
  });
}
