import type { JsonObject } from '#core/data/json';

/** The JSON Schemas of an operation. A missing schema allows any value. */
export interface OperationSchemas {
  /** The schema of the step's input. */
  readonly input?: JsonObject;
  /** The schema of its output. */
  readonly output?: JsonObject;
}

/** The known operations of all agents, used to check a definition. */
export interface Catalog {
  /** Returns the schemas of an operation; undefined if they are unknown. */
  readonly schemasOf: (agent: string, operation: string) => OperationSchemas | undefined;
  /** Every agent with the names of its operations. If present, the list is complete: a step with another operation is refused. */
  readonly all?: ReadonlyMap<string, readonly string[]>;
}
