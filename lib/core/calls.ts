import { workflowsAgent } from './child-order.ts';
import { type Activity, rootPath, type WorkflowDefinition } from './definition.ts';
import { childrenOf } from './program.ts';
import { didYouMean } from './suggest.ts';

/** What is wrong with the calls between workflows of one app, by the workflow in which it stands. */
export function callProblems(
  workflows: readonly WorkflowDefinition[],
): readonly { readonly workflow: string; readonly path: string; readonly message: string }[] {
  const known = new Map(workflows.map((definition) => [nameOf(definition), definition]));
  const calls = new Map(workflows.map((definition) => [nameOf(definition), [...callsIn(definition.root, rootPath)]]));
  return [...calls].flatMap(([workflow, called]) =>
    called.flatMap(({ path, operation }) => {
      const found = known.has(operation);
      if (!found)
        return [
          {
            workflow,
            path,
            message: `It calls ${operation}, which is no workflow of this app.${didYouMean(operation, [...known.keys()])}`,
          },
        ];
      const way = wayBack(operation, workflow, calls);
      return way
        ? [
            {
              workflow,
              path,
              message: `It calls itself in the end: ${[workflow, ...way].join(' → ')}. No order of it could ever be finished.`,
            },
          ]
        : [];
    }),
  );
}

const nameOf = ({ name, version }: WorkflowDefinition): string => `${name}@${version}`;

interface CallPlace {
  readonly path: string;
  readonly operation: string;
}

function* callsIn(node: Activity, path: string): Generator<CallPlace> {
  if (node.activity === 'call' && node.agent === workflowsAgent) yield { path, operation: node.operation };
  for (const child of childrenOf(node)) yield* callsIn(child, `${path}/${child.name}`);
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
