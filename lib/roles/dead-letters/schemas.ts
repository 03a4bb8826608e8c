import type { AnyOperation } from '#authoring/agent';
import { schemasOf } from '#authoring/catalog';
import type { JsonObject } from '#core/data/json';
import type { Definitions } from '#ports/definitions';
import { agentOfRequests, queueNames } from '#ports/messages';
import { calledProgram } from '#roles/definitions/called';

/** Returns the operations of an agent; none if the app has no such agent. */
export const operationsOf = (
  agent: string | undefined,
  { agents }: Pick<Definitions, 'agents'>,
): { readonly [name: string]: AnyOperation } => agents.find(({ name }) => name === agent)?.operations ?? {};

/** Returns an operation of an agent. The name comes from a message, and may be a name that every object has. */
export function operationOf(agent: string | undefined, name: string, definitions: Pick<Definitions, 'agents'>): AnyOperation | undefined {
  const operations = operationsOf(agent, definitions);
  return Object.hasOwn(operations, name) ? operations[name] : undefined;
}

/** Returns the schema of the input of a request on this queue; undefined if the app has no such operation or workflow. */
export function inputSchemaOf(queue: string, operation: string, definitions: Definitions): JsonObject | undefined {
  if (queue === queueNames.calls) return calledProgram(operation, definitions)?.definition.order;
  const described = operationOf(agentOfRequests(queue), operation, definitions);
  return described && (schemasOf(described).input ?? {});
}
