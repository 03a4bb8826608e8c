import type { AwsConfig, AwsEndpoints } from '#adapters/aws/open';
import type { App } from '#authoring/workflow';
import { type EventBus, startDynoxide, startEventBus, startFauxqs } from '../../support/emulators.ts';
import { deploy } from './deploy.ts';

/** Local servers that speak AWS's protocols. */
export interface Emulators {
  readonly endpoints: AwsEndpoints;
  readonly bus: EventBus;
  stop(): Promise<unknown>;
}

export async function startEmulators(): Promise<Emulators> {
  const [dynoxide, fauxqs, bus] = await Promise.all([startDynoxide(), startFauxqs(), startEventBus({ name: 'redress' })]);
  return {
    endpoints: { dynamodb: dynoxide.endpoint, sqs: fauxqs.endpoint, eventbridge: bus.endpoint },
    bus,
    stop: () => Promise.all([dynoxide.stop(), fauxqs.stop(), bus.stop()]),
  };
}

export interface Deployment extends AwsConfig {
  /** Environment variables with which a program finds the resources of this deployment. */
  readonly variables: { readonly [name: string]: string };
}

/** A table, queues and a bus of one app. */
export async function deployed(app: App, endpoints: AwsEndpoints): Promise<Deployment> {
  const deployment = await deploy(app, endpoints);
  const variables = {
    REDRESS_ADAPTERS: 'aws',
    REDRESS_TABLE: deployment.table,
    REDRESS_QUEUE_PREFIX: deployment.queuePrefix,
    REDRESS_BUS: deployment.bus,
    AWS_REGION: deployment.region,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    AWS_ENDPOINT_URL_EVENTBRIDGE: endpoints.eventbridge,
  };
  return { ...deployment, variables };
}
