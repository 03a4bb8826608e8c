import * as z from 'zod';
import type { AnyOperation } from '#authoring/agent';
import { schemasOf } from '#authoring/catalog';
import type { AnyMessageType } from '#authoring/consumer';
import type { JsonObject } from '#core/data/json';
import type { Definitions } from '#ports/definitions';
import { agentOfRequests, consumerOf, queueNames } from '#ports/messages';
import { calledProgram } from '#roles/definitions/called';

/** Returns the operations of an agent; none if the app has no such agent. */
export const operationsOf = (
  agent: string | undefined,
  { agents }: Pick<Definitions, 'agents'>,
): { readonly [name: string]: AnyOperation } => agents.find(({ name }) => name === agent)?.operations ?? {};

/** Returns an operation of an agent. The name comes from a message, and may be `constructor` or another property that every JavaScript object inherits. */
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

/** Returns the message types of the consumer behind a queue; none for any other queue. */
export const messageTypesOf = (queue: string, { consumers }: Pick<Definitions, 'consumers'>): { readonly [type: string]: AnyMessageType } =>
  consumers.find(({ name }) => name === consumerOf(queue))?.types ?? {};

/** Returns the schema of the body of a consumer's message; undefined if the consumer has no such type. */
export function bodySchemaOf(queue: string, type: string, definitions: Pick<Definitions, 'consumers'>): JsonObject | undefined {
  const types = messageTypesOf(queue, definitions);
  const body = Object.hasOwn(types, type) ? types[type]?.body : undefined;
  return body && (z.toJSONSchema(body, { unrepresentable: 'any', io: 'input' }) as JsonObject);
}
