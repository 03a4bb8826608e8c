import type { JsonObject } from '#core/data/json';

/** JSON Schemas of an operation. Without one, anything may stand there. */
export interface OperationSchemas {
  /** Of what it is asked with: what stands in the step's input. */
  readonly input?: JsonObject;
  /** Of what it answers. */
  readonly output?: JsonObject;
}

/** What agents can do, as far as it is known where a definition is checked. */
export interface Catalog {
  /** The schemas of an operation; undefined where nobody knows them. */
  readonly schemasOf: (agent: string, operation: string) => OperationSchemas | undefined;
  /** Every agent with the names of its operations. Given only where nothing else can be asked: then a step that asks for more is refused. */
  readonly all?: ReadonlyMap<string, readonly string[]>;
}
