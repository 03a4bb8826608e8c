import { workflowsAgent } from '#core/data/child-order';
import { isObject } from '#core/data/json';
import { rootPath, type WorkflowDefinition } from '#core/definition/definition';

/** Calls between workflows of one app that lead back to where they began: no such order could ever be finished. */
export function callProblems(
  workflows: readonly WorkflowDefinition[],
): readonly { readonly workflow: string; readonly path: string; readonly message: string }[] {
  const calls = new Map(
    workflows.map((definition) => [
      nameOf(definition),
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
          message: `It calls itself in the end: ${[workflow, ...way].join(' → ')}. No order of it could ever be finished.`,
        },
      ];
    }),
  );
}

/** Whether any workflow calls another one. */
export const hasCalls = (workflows: readonly WorkflowDefinition[] = []): boolean =>
  workflows.some(({ root }) => JSON.stringify(root).includes('"activity":"call"'));

const nameOf = ({ name, version }: WorkflowDefinition): string => `${name}@${version}`;

interface CallPlace {
  readonly path: string;
  readonly operation: string;
}

/** A definition may be written by hand, so nothing of it is what its type says. */
function* callsIn(part: unknown, path: string): Generator<CallPlace> {
  if (Array.isArray(part)) for (const each of part) yield* callsIn(each, path);
  if (!isObject(part)) return;
  const { activity, agent, operation, name } = part;
  const here = typeof activity === 'string' ? `${path}/${name}` : path;
  if (activity === 'call' && agent === workflowsAgent && typeof operation === 'string') yield { path: here, operation };
  for (const each of Object.values(part)) yield* callsIn(each, here);
}

/** The workflows whose orders may have called this one, at whatever depth: they may still take back what it did. */
export function callersOf(called: WorkflowDefinition, workflows: readonly WorkflowDefinition[]): readonly WorkflowDefinition[] {
  const found = new Set<WorkflowDefinition>();
  const add = (name: string): void => {
    for (const each of workflows) {
      if (found.has(each) || ![...callsIn(each.root, '')].some(({ operation }) => operation === name)) continue;
      found.add(each);
      add(nameOf(each));
    }
  };
  add(nameOf(called));
  return [...found];
}

/** The workflows from one to another, by calls; undefined where none leads there. */
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
