import { CfnResource, Stack } from 'aws-cdk-lib';
import type { OrderProcessing } from './order-processing.ts';

/** CloudFormation's limit for one stack, which AWS does not raise. */
const resourcesMax = 500;

/**
 * Reports why a stack is too large and how to reduce it. The error of CDK lists only the number of resources of each type. The check
 * runs at synthesis, after CDK has split long policies.
 */
export function watchResources(system: OrderProcessing, agents: number): void {
  const stack = Stack.of(system);
  const validate = (): string[] => {
    const count = stack.node.findAll().filter((each) => CfnResource.isCfnResource(each) && each.stack === stack).length;
    if (count <= resourcesMax) return [];
    return [
      `The stack would have ${count} resources with ${agents} agents, but CloudFormation allows ${resourcesMax}. ` +
        "Each agent adds 25, or 16 with agents: 'together'; alarms: false saves 8 or 4 of them. Set these options, or distribute the operations over fewer agents.",
    ];
  };
  system.node.addValidation({ validate });
}
