import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Annotations, App, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import type { App as OrderApp } from '#authoring/workflow';
import { OrderStack } from '#infrastructure/stack';
import type { ExternalIssuer, ExternalSignIn } from '#infrastructure/token-issuer';

/**
 * The entry point of `npx cdk deploy`: deploys an app as a stack, by default the sample app.
 *
 * Context: `app`, the path of its module; `stack`, the id of the stack (Redress); `name`, the name of the deployment (redress); `issuer`,
 * `audience` and inline `issuerKeys`, for tokens of another issuer than the user pool; `signIn`, the console's app client at that issuer as
 * JSON; `clients`, comma-separated clients that get an app client; `variables`, the system's variables as JSON; `removal=destroy`, to
 * delete all data with the stack; `protection=off`, for a first deployment that leaves nothing if it fails; `termination=off`, for a stack
 * that one command may delete; `mathAlarms=off`, for emulators without alarms on expressions of metrics.
 */
const app = new App();
const context = (key: string): string | undefined => app.node.tryGetContext(key) as string | undefined;

const entry = context('app') ?? 'examples/orders/app.ts';
const { default: orders } = (await import(pathToFileURL(resolve(entry)).href)) as { default: OrderApp };

// URLs of the remote services, from the environment of the deployment.
const services = orders.local?.variables ?? [];
const agentEnvironment = Object.fromEntries(services.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));

const stack = new OrderStack(app, context('stack') ?? 'Redress', {
  env: { region: process.env['CDK_DEFAULT_REGION'] ?? 'us-east-1' },
  ...(context('termination') === 'off' ? { terminationProtection: false } : {}),
  orders: {
    app: orders,
    entry,
    name: context('name') ?? 'redress',
    agentEnvironment,
    variables: JSON.parse(context('variables') ?? '{}') as { [name: string]: string },
    clients: context('clients')?.split(',') ?? [],
    ...(context('removal') === 'destroy' ? { removalPolicy: RemovalPolicy.DESTROY } : {}),
    ...(context('protection') === 'off' ? { deletionProtection: false } : {}),
    ...issuerGiven(),
  },
});
if (context('mathAlarms') === 'off')
  for (const each of stack.node.findAll())
    if (each instanceof CfnAlarm && each.metrics !== undefined) each.node.scope?.node.tryRemoveChild(each.node.id);
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
const missing = services.filter((name) => !agentEnvironment[name]);
if (missing.length > 0)
  Annotations.of(stack).addWarningV2(
    'redress:services',
    `${missing.join(', ')} not set: the agents cannot find their services. Set these variables to URLs that Lambda can reach, then deploy again.`,
  );

function issuerGiven(): { readonly issuer?: ExternalIssuer } {
  const issuer = context('issuer');
  const keys = context('issuerKeys');
  const signIn = context('signIn');
  const more = { ...(keys ? { keys } : {}), ...(signIn ? { signIn: JSON.parse(signIn) as ExternalSignIn } : {}) };
  return issuer ? { issuer: { issuer, audience: context('audience') ?? 'redress', ...more } } : {};
}
