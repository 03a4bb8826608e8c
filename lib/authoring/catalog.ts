import * as z from 'zod';
import { workflowsAgent } from '#core/data/child-order';
import type { JsonObject } from '#core/data/json';
import type { Catalog, OperationSchemas } from '#core/definition/catalog';
import type { WorkflowDefinition } from '#core/definition/definition';
import { secretPointers } from '#core/definition/secrets';
import { workflowRef } from '#core/definition/workflow-ref';
import type { AnyOperation } from './agent.ts';
import { keepSecretsOfPipes, type Override, outputSchemaOf } from './schema.ts';
import type { App, DefinitionParts } from './workflow.ts';

/** Returns the operations and called workflows of one workflow, by name (`payment.charge`). */
export const catalogOf = ({ operations, called }: DefinitionParts): Catalog => ({
  schemasOf(agent, operation) {
    if (agent === workflowsAgent) return orderOf(called.get(operation));
    const described = operations.get(`${agent}.${operation}`);
    return described && schemasOf(described);
  },
});

const orderOf = (workflow: WorkflowDefinition | undefined): OperationSchemas => (workflow ? { input: workflow.order } : {});

/** Returns all operations of an app's agents, and all its workflows. No step can use anything else. */
export function catalogOfApp({ workflows, agents }: Pick<App, 'workflows' | 'agents'>): Catalog {
  const operations = agents.flatMap((agent) =>
    Object.entries(agent.operations).map(([name, each]) => [`${agent.name}.${name}`, each] as const),
  );
  const called = new Map(workflows.map((workflow) => [workflowRef(workflow), workflow]));
  return {
    ...catalogOf({ operations: new Map(operations), called }),
    all: new Map([
      ...agents.map((agent) => [agent.name, Object.keys(agent.operations)] as const),
      [workflowsAgent, [...called.keys(), 'undo']],
    ]),
  };
}

const known = new WeakMap<AnyOperation, OperationSchemas>();

/** Returns the schemas of what is on the wire: the input before the agent's schema transforms it, the output after. */
export function schemasOf(operation: AnyOperation): OperationSchemas {
  const schemas = known.get(operation) ?? {
    input: z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any', override: acceptAnything }) as JsonObject,
    output: outputSchemaOf(operation.output),
  };
  known.set(operation, schemas);
  return schemas;
}

/**
 * Schemas that coerce, catch or preprocess accept more input than the JSON Schema of their type says. If one holds a secret, its value is
 * secret as a whole: nobody knows the place of the secret before the conversion.
 */
const acceptAnything: Override = (part) => {
  keepSecretsOfPipes(part);
  const { zodSchema, jsonSchema } = part;
  const { def } = zodSchema._zod;
  const isLenient =
    ('coerce' in def && def.coerce === true) || def.type === 'catch' || (def.type === 'pipe' && def.in._zod.def.type === 'transform');
  if (!isLenient) return;
  const isSecret = secretPointers(jsonSchema as JsonObject).length > 0;
  for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
  if (isSecret) jsonSchema['secret'] = true;
};
