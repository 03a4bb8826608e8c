import type { Program } from '#core/definition/program';
import { parseWorkflowRef } from '#core/definition/workflow-ref';
import type { Definitions } from '#ports/definitions';

/** Returns the program that a call names (`fulfil-order@1`); undefined if it is not part of the app. */
export function calledProgram(operation: string, { program }: Pick<Definitions, 'program'>): Program | undefined {
  const { name, version } = parseWorkflowRef(operation);
  return program(name, version);
}
