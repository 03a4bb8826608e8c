import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { SetupError } from '#ports/errors';
import type { Alarms } from './alarms.ts';
import type { SystemFunction } from './lambda-function.ts';

export interface CanaryProps {
  readonly functions: Iterable<SystemFunction>;
  /** Undefined if the deployment has no alarms. */
  readonly alarms: Alarms | undefined;
}

/**
 * Deploys a new version of each function first for a tenth of its runs, for ten minutes. The alarms on errors have periods of five
 * minutes, so they have time to fire. If one fires, CodeDeploy returns all runs to the previous version.
 *
 * @throws SetupError without alarms, because nothing would start a rollback.
 */
export class Canary extends Construct {
  readonly role: Role;

  constructor(scope: Construct, id: string, { functions, alarms }: CanaryProps) {
    super(scope, id);
    if (!alarms) throw new SetupError('A canary needs alarms to roll back, but alarms is false.', 'Leave out `alarms` or `deployments`.');
    const application = new LambdaApplication(this, 'Application');
    this.role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
      description: 'Shifts runs to new versions of Redress',
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName('service-role/AWSCodeDeployRoleForLambdaLimited')],
    });
    for (const { alias, spec } of functions)
      if (alias)
        new LambdaDeploymentGroup(this, spec.name, {
          application,
          role: this.role.withoutPolicyUpdates(),
          alias,
          deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
          alarms: [...alarms.of('FunctionFails', spec.name), ...(spec.file === 'api' ? alarms.of('ApiFails', 'system') : [])],
        });
  }
}
