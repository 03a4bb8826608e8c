import { workflowsAgent } from '#core/data/child-order';
import { isObject } from '#core/data/json';
import { rootPath, type WorkflowDefinition } from '#core/definition/definition';
import { workflowRef } from '#core/definition/workflow-ref';

/** Returns the calls between workflows of one app that form a cycle. An order in such a cycle could never end. */
export function callProblems(
  workflows: readonly WorkflowDefinition[],
): readonly { readonly workflow: string; readonly path: string; readonly message: string }[] {
  const calls = new Map(
    workflows.map((definition) => [
      workflowRef(definition),
      [...callsIn(definition.root, '')].map(({ path, operation }) => ({ path: path.replace(/^\/[^/]*/, rootPath), operation })),
    ]),
  );
  return [...calls].flatMap(([workflow, called]) =>
    called.flatMap(({ path, operation }) => {
      const way = wayBack(operation, workflow, calls);
      if (!way) return [];
      return [
        {
          workflow,
          path,
          message: `The workflow calls itself: ${[workflow, ...way].join(' → ')}. Such an order could never end. Remove one of these calls.`,
        },
      ];
    }),
  );
}

/** Whether any of the workflows contains a call. */
export const hasCalls = (workflows: readonly WorkflowDefinition[] = []): boolean =>
  workflows.some(({ root }) => JSON.stringify(root).includes('"activity":"call"'));

interface CallPlace {
  readonly path: string;
  readonly operation: string;
}

/** Yields the calls in a definition. It may be written by hand, so its parts may not match their types. */
function* callsIn(part: unknown, path: string): Generator<CallPlace> {
  if (Array.isArray(part)) for (const each of part) yield* callsIn(each, path);
  if (!isObject(part)) return;
  const { activity, agent, operation, name } = part;
  const here = typeof activity === 'string' ? `${path}/${name}` : path;
  if (activity === 'call' && agent === workflowsAgent && typeof operation === 'string') yield { path: here, operation };
  for (const each of Object.values(part)) yield* callsIn(each, here);
}

/**
 * Returns the workflows whose orders may have called an order of `called`, at any depth. Such an order may still compensate the called
 * order.
 */
export function callersOf(called: WorkflowDefinition, workflows: readonly WorkflowDefinition[]): readonly WorkflowDefinition[] {
  const found = new Set<WorkflowDefinition>();
  const add = (name: string): void => {
    for (const each of workflows) {
      if (found.has(each) || ![...callsIn(each.root, '')].some(({ operation }) => operation === name)) continue;
      found.add(each);
      add(workflowRef(each));
    }
  };
  add(workflowRef(called));
  return [...found];
}

/** Returns the workflows from one to another along calls; undefined if no path leads there. */
function wayBack(from: string, to: string, calls: ReadonlyMap<string, readonly CallPlace[]>): readonly string[] | undefined {
  const seen = new Set<string>();
  const walk = (at: string): readonly string[] | undefined => {
    if (at === to) return [at];
    if (seen.has(at)) return undefined;
    seen.add(at);
    for (const { operation } of calls.get(at) ?? []) {
      const rest = walk(operation);
      if (rest) return [at, ...rest];
    }
    return undefined;
  };
  return walk(from);
}
