import { callersOf } from '#core/checks/calls';
import { isObject, type Json, type JsonObject, utf8Bytes } from '#core/data/json';
import type { WorkflowDefinition } from '#core/definition/definition';
import { firstDifference, steeringOf } from '#core/definition/steering';
import { workflowRef } from '#core/definition/workflow-ref';
import { collections, type Document } from '#ports/documents';
import { SetupError } from '#ports/errors';
import type { StateHead } from '#ports/records';
import type { Store } from '#ports/store';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { hashOf } from './pinning.ts';

type Ports = Pick<Store, 'document' | 'putDocument' | 'list'>;

/** A version of a workflow that differs from its recorded definition. */
export interface ChangedDefinition {
  readonly definition: WorkflowDefinition;
  /** Path of the first difference; undefined if the definition was too large to be recorded in full. */
  readonly place: string | undefined;
  readonly recorded: Document;
}

/** Larger definitions are recorded as a hash only: DynamoDB accepts 400 KB and charges by size. */
export const recordedBytesMax = 200_000;

const documentOf = (definition: WorkflowDefinition, rev: number): Document => {
  const steering = steeringOf(definition);
  const whole = utf8Bytes(steering) <= recordedBytesMax ? { steering } : {};
  return { ...keyOf(definition), rev, content: { hash: hashOf(definition), ...whole } };
};

const keyOf = ({ name, version }: WorkflowDefinition) => ({ collection: collections.workflow(name), id: String(version) });

const isSame = ({ content }: Document, definition: WorkflowDefinition): boolean => content['hash'] === hashOf(definition);

const changedFrom = (recorded: Document, definition: WorkflowDefinition): ChangedDefinition => {
  const before = recorded.content['steering'] as Json | undefined;
  const place = isObject(before) ? firstDifference(before as JsonObject, steeringOf(definition)) : undefined;
  return { definition, place, recorded };
};

/** Returns the workflows that differ from their record, and those without a record. It reads one document per workflow and writes none. */
export async function compareDefinitions(
  workflows: readonly WorkflowDefinition[],
  { document }: Pick<Ports, 'document'>,
): Promise<{ readonly changed: readonly ChangedDefinition[]; readonly unknown: readonly WorkflowDefinition[] }> {
  const recorded = await allSettledOrThrow(workflows.map((definition) => document(keyOf(definition).collection, keyOf(definition).id)));
  const pairs = workflows.map((definition, index) => ({ definition, document: recorded[index] }));
  return {
    changed: pairs.flatMap(({ definition, document: found }) =>
      found && !isSame(found, definition) ? [changedFrom(found, definition)] : [],
    ),
    unknown: pairs.flatMap(({ definition, document: found }) => (found ? [] : [definition])),
  };
}

/**
 * Records new versions of workflows and compares the others with their records. With `mayReplace`, a changed version replaces its
 * record if no order under way needs the former definition. Returns one line for each replaced version.
 *
 * @throws SetupError that names every changed version, its first difference, and the remedy.
 */
export async function recordDefinitions(
  workflows: readonly WorkflowDefinition[],
  store: Ports,
  { mayReplace }: { readonly mayReplace: boolean },
): Promise<readonly string[]> {
  const { changed, unknown } = await compareDefinitions(workflows, store);
  const added = await allSettledOrThrow(unknown.map((definition) => recordNew(definition, store)));
  const all = [...changed, ...added.flatMap((each) => each ?? [])];
  const replaced: string[] = [];
  const refused: string[] = [];
  for (const each of all) {
    const orders = mayReplace ? await liveOrdersOf(each.definition, workflows, store, someMax) : undefined;
    if (orders?.length === 0 && (await replace(each, store)))
      replaced.push(`${changeText(each)}. No order under way uses the former definition, so it was replaced.`);
    else
      refused.push(
        `${changeText(each)}${orders === undefined ? '' : `, and ${countText(orders.length)} under way ${orders.length === 1 ? 'uses' : 'use'} the former definition`}.`,
      );
  }
  if (refused.length === 0) return replaced;
  throw new SetupError(
    `Workflows have changed without a new version: ${refused.join(' ')}`,
    mayReplace
      ? 'Give the changed workflow a new version and keep the former one beside it, or undo the change. "npx redress reset" empties the data folder with all its orders.'
      : 'Give the changed workflow a new version and keep the former one beside it, or deploy the former one again. docs/operations/runbook.md says how to release a version that no order needs.',
  );
}

/** Limit of the search for orders. One is enough to refuse; the message states the number. */
const someMax = 100;
const countText = (count: number): string => (count === 1 ? 'an order' : `${count >= someMax ? `at least ${someMax}` : count} orders`);

export const changeText = ({ definition, place }: ChangedDefinition): string =>
  `${workflowRef(definition)} has changed${place === undefined ? '' : ` (${place})`}`;

/** Records a version. Returns undefined, or the difference from the record that another process wrote at the same time. */
async function recordNew(definition: WorkflowDefinition, { putDocument }: Ports): Promise<ChangedDefinition | undefined> {
  const write = await putDocument(documentOf(definition, 1), 0);
  const current = write.outcome === 'refused' ? write.current : null;
  return current && !isSame(current, definition) ? changedFrom(current, definition) : undefined;
}

async function replace({ definition, recorded: { rev } }: ChangedDefinition, { putDocument }: Ports): Promise<boolean> {
  const write = await putDocument(documentOf(definition, rev + 1), rev);
  return write.outcome === 'written' || (write.current !== null && isSame(write.current, definition));
}

/**
 * Returns at most `limit` orders under way that the change affects. Orders of workflows that call the version are included,
 * because they may still compensate the call.
 */
export async function liveOrdersOf(
  definition: WorkflowDefinition,
  workflows: readonly WorkflowDefinition[],
  store: Pick<Ports, 'list'>,
  limit: number,
): Promise<readonly StateHead[]> {
  const found: StateHead[] = [];
  for (const each of [definition, ...callersOf(definition, workflows)]) {
    // An order that began with the current definition does not need the former one.
    const needs = (head: StateHead): boolean => each !== definition || head.definition !== hashOf(definition);
    found.push(...(await liveOrders(each, needs, store, limit - found.length)));
  }
  return found;
}

/** Returns at most `limit` orders of one version that are under way. */
async function liveOrders(
  { name, version }: Pick<WorkflowDefinition, 'name' | 'version'>,
  isMeant: (head: StateHead) => boolean,
  store: Pick<Ports, 'list'>,
  limit: number,
): Promise<readonly StateHead[]> {
  const found: StateHead[] = [];
  for (const state of ['Error', 'Processing', 'Pending'] as const) {
    let after: Parameters<Store['list']>[1];
    do {
      const page = await store.list({ workflow: name, state }, after, 100);
      found.push(...page.items.flatMap(({ state: head }) => (head.workflow.version === version && isMeant(head) ? [head] : [])));
      after = page.next;
    } while (after && found.length < limit);
  }
  return found.slice(0, Math.max(0, limit));
}

/** Preview of a deployment for one version: its difference, and the orders under way that could not continue. */
export interface VersionCheck {
  readonly name: string;
  readonly version: number;
  /** `missing`: recorded, and no longer part of the app. */
  readonly found: 'same' | 'new' | 'changed' | 'missing';
  /** Path of the first difference. */
  readonly place?: string;
  readonly orders: readonly StateHead[];
}

/** Compares the versions of the app with the recorded versions of the same workflows, in both directions. It writes nothing. */
export async function checkDefinitions(
  workflows: readonly WorkflowDefinition[],
  store: Pick<Store, 'document' | 'documents' | 'list'>,
  limit: number,
): Promise<readonly VersionCheck[]> {
  const { changed, unknown } = await compareDefinitions(workflows, store);
  const checks: VersionCheck[] = [];
  for (const definition of workflows) {
    const { name, version } = definition;
    const change = changed.find((each) => each.definition === definition);
    if (!change) checks.push({ name, version, found: unknown.includes(definition) ? 'new' : 'same', orders: [] });
    else {
      const place = change.place === undefined ? {} : { place: change.place };
      checks.push({ name, version, found: 'changed', ...place, orders: await liveOrdersOf(definition, workflows, store, limit) });
    }
  }
  for (const name of new Set(workflows.map((each) => each.name)))
    for (const { id } of await store.documents(collections.workflow(name), undefined, versionsMax)) {
      const version = Number(id);
      if (workflows.some((each) => each.name === name && each.version === version)) continue;
      checks.push({ name, version, found: 'missing', orders: await liveOrders({ name, version }, () => true, store, limit) });
    }
  return checks;
}

/** Limit of recorded versions per workflow that are compared with the app. */
const versionsMax = 1000;
