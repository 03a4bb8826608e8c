import type { AgentDefinition } from '#authoring/agent';
import { schemasOf } from '#authoring/catalog';
import type { App } from '#authoring/workflow';
import { Secrets } from '#core/checks/secret-output';
import { programOf } from '#core/definition/program';
import { declares } from '#core/definition/sealed';
import { partsOf, secretPointers } from '#core/definition/secrets';

/**
 * Returns the names of the agents that need keys: an operation of theirs takes or returns a secret. No other agent may decrypt a secret.
 */
export function agentsWithSecrets({ workflows = [], agents }: Pick<App, 'agents'> & Partial<Pick<App, 'workflows'>>): ReadonlySet<string> {
  return new Set([...agents.filter(marksSecrets).map(({ name }) => name), ...workflows.flatMap((each) => readersIn(each, agents))]);
}

const marksSecrets = ({ operations }: AgentDefinition): boolean =>
  Object.values(operations).some((operation) => {
    const { input, output } = schemasOf(operation);
    return secretPointers(input).length + secretPointers(output).length > 0;
  });

/** Returns the agents of the steps whose input has a secret in a field that the operation declares. */
function readersIn(workflow: App['workflows'][number], agents: App['agents']): readonly string[] {
  const nodes = [...programOf(workflow).nodes.values()];
  const secrets = new Secrets(nodes, secretPointers(workflow.order));
  return nodes.flatMap((node) => {
    if (node.activity !== 'step') return [];
    const { agent, operation, input } = node;
    const described = agents.find(({ name }) => name === agent)?.operations[operation];
    if (!described) return [];
    const schema = schemasOf(described).input;
    const isRead = secrets.placesIn(input).some((place) => schema === undefined || declares(schema, partsOf(place)));
    return isRead ? [agent] : [];
  });
}
