import * as z from 'zod';
import type { Catalogue, OperationSchemas } from '../core/catalogue.ts';
import type { JsonObject } from '../core/json.ts';
import type { AgentDefinition, AnyOperation } from './agent.ts';

/** The operations that steps of one workflow were written with, by name: `payment.charge`. */
export const catalogueOf = (operations: ReadonlyMap<string, AnyOperation>): Catalogue => ({
  schemasOf: (agent, operation) => {
    const described = operations.get(`${agent}.${operation}`);
    return described && schemasOf(described);
  },
});

/** All that the agents of an app can do; there is nothing else that a step could ask for. */
export function catalogueOfAgents(agents: readonly AgentDefinition[]): Catalogue {
  const operations = agents.flatMap((agent) =>
    Object.entries(agent.operations).map(([name, each]) => [`${agent.name}.${name}`, each] as const),
  );
  return {
    ...catalogueOf(new Map(operations)),
    all: new Map(agents.map((agent) => [agent.name, Object.keys(agent.operations)])),
  };
}

const known = new WeakMap<AnyOperation, OperationSchemas>();

/** What is on the wire: the input before the agent's own schema changes its form, the output after. */
export function schemasOf(operation: AnyOperation): OperationSchemas {
  const schemas = known.get(operation) ?? {
    input: z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any', override: acceptAnything }) as JsonObject,
    output: z.toJSONSchema(operation.output, { io: 'output', unrepresentable: 'any' }) as JsonObject,
  };
  known.set(operation, schemas);
  return schemas;
}

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;

/** What coerces, catches or changes its input first takes more than the JSON Schema of its type says. */
const acceptAnything: Override = ({ zodSchema, jsonSchema }) => {
  const { def } = zodSchema._zod;
  const isLenient =
    ('coerce' in def && def.coerce === true) || def.type === 'catch' || (def.type === 'pipe' && def.in._zod.def.type === 'transform');
  if (isLenient) for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
};
