import { isObject, type Json, type JsonObject, sortedText } from '#core/data/json';
import { type Activity, rootPath, type WorkflowDefinition } from './definition.ts';
import { childrenOf } from './program.ts';

/** Fields of a step or a call that come from its operation or the called workflow, as the app declares them now. */
const ofOperation: ReadonlySet<string> = new Set([
  'faults',
  'completeWithinSeconds',
  'longestSeconds',
  'atMostOnce',
  'lookup',
  'secretOutput',
  'reads',
  'writes',
]);

/** Keywords of a JSON Schema that only inform people. */
const annotations: ReadonlySet<string> = new Set(['title', 'description', '$comment']);
const schemaFields: ReadonlySet<string> = new Set(['payload', 'answer']);

/**
 * Returns the part of a definition that steers an order, as plain data: the tree with its names, expressions, handlers,
 * undos and numbers. Two definitions with the same steering text are the same to every running order. Decision 21 says
 * which fields count, and why.
 */
export function steeringOf({ name, version, exprVersion, toCaller = [], root }: WorkflowDefinition): JsonObject {
  return { name, version, exprVersion, toCaller: [...toCaller].sort(), root: steeringOfNode(root) };
}

/** Returns the same text for the same steering, whatever the sequence of its fields. */
export const steeringText = (definition: WorkflowDefinition): string => sortedText(steeringOf(definition));

function steeringOfNode(node: Activity): JsonObject {
  const children: ReadonlySet<unknown> = new Set(childrenOf(node));
  const isRemote = node.activity === 'step' || node.activity === 'call';
  const isForPeople = (field: string, value: unknown): boolean =>
    node.activity === 'askOperator' && (field === 'people' || (field === 'question' && typeof value === 'string'));
  const partOf = (value: unknown): Json => {
    if (children.has(value)) return steeringOfNode(value as Activity);
    if (Array.isArray(value)) return value.map(partOf);
    if (!isObject(value)) return value as Json;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, partOf(part)]));
  };
  return Object.fromEntries(
    Object.entries(node)
      .filter(([field, value]) => !(isRemote && ofOperation.has(field)) && !isForPeople(field, value))
      .map(([field, value]) => [field, schemaFields.has(field) ? withoutAnnotations(value as Json) : partOf(value)]),
  );
}

/** Removes annotations. Only texts are removed, because a property named `title` has a schema as its value. */
function withoutAnnotations(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutAnnotations);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !(annotations.has(key) && typeof value === 'string'))
      .map(([key, value]) => [key, withoutAnnotations(value as Json)]),
  );
}

/**
 * Returns the first difference of two steerings in the order of the tree: the path of the activity, and its field.
 * Undefined if they are the same.
 */
export function firstDifference(before: Json | undefined, after: Json | undefined, path = ''): string | undefined {
  if (before === undefined || after === undefined) return before === after ? undefined : path;
  if (sortedText(before) === sortedText(after)) return undefined;
  if (Array.isArray(before) && Array.isArray(after)) {
    const index = before.findIndex((part, at) => after[at] === undefined || sortedText(part) !== sortedText(after[at]));
    const at = index < 0 ? before.length : index;
    return firstDifference(before[at], after[at], inside(path, before[at] ?? after[at], String(at)));
  }
  if (!isObject(before) || !isObject(after)) return path;
  // Another activity stands here, so the names of its differing fields would not help.
  if (before['name'] !== after['name']) return path;
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[key] as Json | undefined, after[key] as Json | undefined];
    const found = firstDifference(was, is, inside(path, was ?? is, key));
    if (found !== undefined) return found;
  }
  return path;
}

/** Names a part: an activity by its path, as in `order/charge`, anything else by its field or position. */
function inside(path: string, part: Json | undefined, key: string): string {
  const isActivity = isObject(part) && typeof part['activity'] === 'string' && typeof part['name'] === 'string';
  if (isActivity) return path === '' ? rootPath : `${activityIn(path)}/${String(part['name'])}`;
  return path === '' ? key : path.includes(' ') ? `${path}/${key}` : `${path} ${key}`;
}

/** Returns the path of the activity, without the field behind it. */
const activityIn = (path: string): string => path.split(' ')[0] ?? path;
