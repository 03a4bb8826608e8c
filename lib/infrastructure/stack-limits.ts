import { CfnResource, Stack } from 'aws-cdk-lib';
import type { OrderProcessing } from './order-processing.ts';

/** CloudFormation takes no more in one stack; nobody can have it raised. */
const resourcesMax = 500;

/**
 * Says what makes a stack too large, and what helps; CDK only counts the types. Not before it is synthesized: by then long policies
 * are split.
 */
export function watchResources(system: OrderProcessing, agents: number): void {
  const stack = Stack.of(system);
  const validate = (): string[] => {
    const count = stack.node.findAll().filter((each) => CfnResource.isCfnResource(each) && each.stack === stack).length;
    if (count <= resourcesMax) return [];
    return [
      `The stack would have ${count} resources with ${agents} agents, and CloudFormation takes ${resourcesMax}. ` +
        "Each agent adds 25, or 16 with agents: 'together'; alarms: false takes 8 or 4 of them off. Set these, or give the operations to fewer agents.",
    ];
  };
  system.node.addValidation({ validate });
}
