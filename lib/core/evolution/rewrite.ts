import { isObject } from '#core/data/json';
import { type Activity, rootPath, type WorkflowDefinition } from '#core/definition/definition';
import { childrenOf, type Program } from '#core/definition/program';

/** Returns the definition with another activity at a path, as its next version. Nothing else changes. */
export function rewritten({ definition }: Program, path: string, by: Activity): WorkflowDefinition {
  const names = path.split('/').slice(1);
  return { ...definition, version: definition.version + 1, root: path === rootPath ? by : at(definition.root, names, by) };
}

function at(node: Activity, [name, ...rest]: readonly string[], by: Activity): Activity {
  const target = childrenOf(node).find((child) => child.name === name);
  if (!target) throw new Error(`${node.name} has no activity "${name}".`);
  return replaced(node, target, rest.length === 0 ? by : at(target, rest, by)) as Activity;
}

/** Replaces one child, by its identity, in whichever field of its parent it stands. */
function replaced(value: unknown, target: Activity, by: Activity): unknown {
  if (value === target) return by;
  if (Array.isArray(value)) return value.map((entry) => replaced(entry, target, by));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, entry]) => [field, replaced(entry, target, by)]));
}

/** Returns a name that no activity of the workflow has. */
export function freshName({ nodes }: Program, wanted: string): string {
  const taken = new Set([...nodes.values()].map(({ name }) => name));
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!taken.has(name)) return name;
  }
}
