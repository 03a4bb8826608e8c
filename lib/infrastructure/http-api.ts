import type { RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat, type RestApi, type DomainName as RestDomainName } from 'aws-cdk-lib/aws-apigateway';
import {
  DomainName,
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  HttpStage,
  type IHttpRouteAuthorizer,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { SetupError } from '#ports/errors';
import { type Firewall, WebAcl } from './firewall.ts';
import { restApi } from './rest-api.ts';

/** Tokens that API Gateway lets through to the function. */
export interface TokenCheck {
  readonly issuer: string;
  /** One of these must be the `aud` or `client_id` of a token. */
  readonly audience: readonly string[];
}

/** A domain of your own for the API. */
export interface ApiDomain {
  readonly name: string;
  /** Its certificate of Certificate Manager, in the region of the stack. */
  readonly certificateArn: string;
}

export interface EntranceProps {
  readonly name: string;
  readonly handler: IFunction;
  readonly key: IKey;
  readonly logRetention: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
  /** Requests a second and burst size beyond which API Gateway refuses requests. */
  readonly throttle: { readonly rateLimit: number; readonly burstLimit: number };
  /** The check of tokens before the function. Without it, every request reaches the function. */
  readonly tokens?: TokenCheck | undefined;
  readonly domain?: ApiDomain | undefined;
  readonly disableExecuteApiEndpoint?: boolean | undefined;
  /** The firewall in front of the API, which is then a REST API. */
  readonly firewall?: Firewall | undefined;
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
/** The access log line of a REST API: another variable has its integration error, and `refusal` tells why the firewall refused a call. */
const restAccessLine = { ...accessLine, error: '$context.integration.error', refusal: '$context.waf.error' };
const callerFields = { sub: '$context.authorizer.claims.sub', refusal: '$context.authorizer.error' };

/** Paths that need no token. */
const openPaths = ['/', '/console/{name}', '/sign-in', '/health', '/openapi.json'];

/** The most audiences of one authorizer, a quota of API Gateway that AWS does not raise. */
const audiencesMax = 50;

/**
 * The API, as an HTTP API or as a REST API with a web ACL. One function answers every request that passes the check of its token,
 * including those to unknown routes.
 */
export class Entrance extends Construct {
  readonly api: HttpApi | RestApi;
  readonly url: string;
  /** The custom domain, for an alias record; undefined without one. */
  readonly domain: DomainName | RestDomainName | undefined;

  constructor(scope: Construct, id: string, props: EntranceProps) {
    super(scope, id);
    const { key, logRetention, removalPolicy, domain, disableExecuteApiEndpoint = false, firewall } = props;
    if (disableExecuteApiEndpoint && !domain)
      throw new SetupError('The API would have no address: disableExecuteApiEndpoint is set, and no domain.', 'Also set `domain`.');
    const log = new LogGroup(this, 'AccessLog', { retention: logRetention, encryptionKey: key, removalPolicy });
    const made = firewall ? this.#restApi(props, firewall, log) : this.#httpApi(props, log);
    this.api = made.api;
    this.domain = made.domain;
    this.url = domain ? `https://${domain.name}` : made.address();
  }

  #httpApi({ name, handler, throttle, tokens, domain, disableExecuteApiEndpoint = false }: EntranceProps, log: LogGroup) {
    const authorizer = tokens && authorizerFor(tokens);
    // One permission for the whole API, because the function answers all its routes.
    const integration = new HttpLambdaIntegration('ToFunction', handler, { scopePermissionToRoute: false });
    const api = new HttpApi(this, 'Api', {
      apiName: name,
      createDefaultStage: false,
      disableExecuteApiEndpoint,
      defaultIntegration: integration,
      ...(authorizer ? { defaultAuthorizer: authorizer } : {}),
    });
    if (authorizer)
      for (const path of openPaths) api.addRoutes({ path, methods: [HttpMethod.ANY], integration, authorizer: new HttpNoneAuthorizer() });
    const line = { ...accessLine, ...(authorizer ? callerFields : {}) };
    const domainName = domain && this.#makeDomain(domain);
    new HttpStage(this, 'Stage', {
      httpApi: api,
      stageName: '$default',
      autoDeploy: true,
      throttle,
      accessLogSettings: { destination: new LogGroupLogDestination(log), format: AccessLogFormat.custom(JSON.stringify(line)) },
      detailedMetricsEnabled: true,
      ...(domainName ? { domainMapping: { domainName } } : {}),
    });
    return { api, domain: domainName, address: () => api.apiEndpoint };
  }

  #restApi(
    { name, handler, throttle, tokens, domain, disableExecuteApiEndpoint = false }: EntranceProps,
    firewall: Firewall,
    log: LogGroup,
  ) {
    if (!domain)
      throw new SetupError(
        'With the firewall, the API is a REST API. Without a domain its paths begin with a stage, so links to orders would be wrong.',
        'Also set `domain` of OrderProcessing.',
      );
    if (tokens)
      throw new SetupError(
        'A REST API cannot check all tokens of this system, so firewall and authorizer exclude each other.',
        'Leave out `authorizer`: the function checks every token, and `firewall` limits requests without one.',
      );
    const api = restApi(this, 'Rest', { name, handler, throttle, domain, disableExecuteApiEndpoint, log, accessLine: restAccessLine });
    new WebAcl(this, 'Firewall', { name, stage: api.deploymentStage, ...firewall });
    return { api, domain: api.domainName, address: () => api.url };
  }

  #makeDomain({ name, certificateArn }: ApiDomain): DomainName {
    const certificate = Certificate.fromCertificateArn(this, 'Certificate', certificateArn);
    return new DomainName(this, 'Domain', { domainName: name, certificate });
  }
}

function authorizerFor({ issuer, audience }: TokenCheck): IHttpRouteAuthorizer {
  if (audience.length <= audiencesMax) return new HttpJwtAuthorizer('Tokens', issuer, { jwtAudience: [...audience] });
  throw new SetupError(
    `The authorizer of the API would have ${audience.length} audiences, but API Gateway allows ${audiencesMax}.`,
    'Leave out `authorizer`: the function checks every token itself.',
  );
}
