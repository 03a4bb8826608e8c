import type { Json, JsonObject } from '#core/data/json';
import type { State } from '#core/data/state';
import type { Catalog, OperationSchemas } from '#core/definition/catalog';
import { isRemote, type WorkflowDefinition } from '#core/definition/definition';
import type { Program } from '#core/definition/program';
import type { Rule } from '#core/rules/rule';
import type { OrderRecord, StateHead } from '#ports/records';
import type { Instance, StoredEntry } from '#roles/scheduler/instance';
import { withoutCallKeys, withoutSecrets } from './masking.ts';

/** The version of the format. */
export const caseVersion = 1;

/** The parts of an order that a replay needs. */
export type CaseOrder = Pick<OrderRecord, 'orderId' | 'client' | 'reference' | 'workflow' | 'body' | 'submittedAt' | 'firstGeneration'> &
  Pick<OrderRecord, 'restartedFrom' | 'handles' | 'caller'>;

/** The attributes of the stored head of an order that tell how the order stands, and the settings that the order keeps. */
export type CaseHead = Pick<StateHead, (typeof headFields)[number]>;

const headFields = [
  'rev',
  'epoch',
  'lockedBy',
  'completeBy',
  'remainingMs',
  'processState',
  'outcome',
  'suspended',
  'failureCount',
  'errorGen',
  'causes',
  'open',
  'restartedAs',
  'fault',
  'nextDueAt',
  'nextDueFor',
  'recover',
  'maxFailures',
  'onExhausted',
  'longWaitMs',
  'stepMs',
  'definition',
  'notes',
  'updatedAt',
] as const satisfies readonly (keyof StateHead)[];

/**
 * An order with all that a replay needs, without its secrets: equal placeholders stand for equal secrets. Times are milliseconds since
 * 1970.
 */
export interface OrderCase {
  readonly v: typeof caseVersion;
  readonly order: CaseOrder;
  readonly head: CaseHead;
  readonly definition: WorkflowDefinition;
  /** The schemas of the operations that the workflow uses: `payment.charge`. */
  readonly schemas: { readonly [operation: string]: OperationSchemas };
  /** The rules in force about the workflow when the case was exported. */
  readonly rules: readonly Rule[];
  /** The state of the instance; null if it cannot be read. */
  readonly state: State | null;
  /** The journal from its first line, with the event that each line follows from. */
  readonly journal: readonly StoredEntry[];
}

interface Exported {
  readonly program: Program;
  readonly order: OrderRecord;
  readonly head: StateHead;
  readonly instance: Instance | undefined;
  readonly lines: readonly StoredEntry[];
  readonly catalog: Catalog;
  readonly rules: readonly Rule[];
}

/** Returns an order as a case. `lines`: the whole journal as it is stored. */
export function caseOf({ program, order, head, instance, lines, catalog, rules }: Exported): OrderCase {
  const { hash: _, key: __, erasedAt: ___, answer: ____, responseChannel: _____, ...kept } = order;
  const { definition } = program;
  const schemas = schemasIn(program, catalog);
  const content = { order: kept, head: picked(head), state: instance?.state ?? null, journal: lines.map(withoutCallKeys) };
  return {
    v: caseVersion,
    ...(withoutSecrets({ program, schemas }, content as unknown as JsonObject) as unknown as typeof content),
    definition,
    schemas,
    rules: rules.filter(({ mode, object }) => mode === 'enforce' && (object?.workflow ?? definition.name) === definition.name),
  };
}

const picked = (head: StateHead): CaseHead =>
  Object.fromEntries(
    headFields.flatMap((field) => (head[field] === undefined ? [] : [[field, head[field] as Json]])),
  ) as unknown as CaseHead;

function schemasIn({ nodes }: Program, catalog: Catalog): OrderCase['schemas'] {
  const operations = [...nodes.values()].flatMap((node) => [...(isRemote(node) ? [node] : []), ...(node.undo ? [node.undo] : [])]);
  return Object.fromEntries(
    operations.flatMap(({ agent, operation }) => {
      const found = catalog.schemasOf(agent, operation);
      return found ? [[`${agent}.${operation}`, found]] : [];
    }),
  );
}
