import type { WorkflowDefinition } from '#core/definition/definition';
import type { People, PeopleFor } from '#core/definition/people';
import { workflowRef } from '#core/definition/workflow-ref';

/**
 * Returns the options `people` of an app's workflows, with the defaults of the deployment. A version that the app lacks has the defaults.
 */
export function createPeopleFor(workflows: readonly WorkflowDefinition[], defaults: People): PeopleFor {
  const options = new Map(workflows.map((each) => [workflowRef(each), { ...defaults, ...each.people }]));
  return (workflow) => options.get(workflowRef(workflow)) ?? defaults;
}
