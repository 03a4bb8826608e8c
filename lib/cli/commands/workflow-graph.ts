import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { WorkflowDefinition } from '../../core/definition.ts';
import { isObject } from '../../core/json.ts';
import type { CliCommand } from '../command.ts';
import { UsageError } from '../errors.ts';

/** Draws workflows, for a pull request or a document: what GitHub shows of a `mermaid` block. */
export const workflowGraph: CliCommand = {
  name: 'workflow graph',
  summary: 'draws the workflows of a module as Mermaid text',
  declare: (command) => command.argument('<module>', 'file that exports workflows, or an app'),

  async run(cli, _, [file = '']) {
    const module = await moduleAt(file);
    const { mermaidOf } = await import('../../core/graph.ts');
    const exported = Object.values(module).flatMap((value) =>
      isObject(value) && Array.isArray(value['workflows']) ? (value['workflows'] as unknown[]) : [value],
    );
    const graphs = [...new Set(exported)].filter(isWorkflow).map((workflow) => ({
      name: workflow.name,
      version: workflow.version,
      mermaid: mermaidOf(workflow),
    }));
    if (graphs.length === 0)
      throw new UsageError(`${file} exports no workflow and no app: export what defineWorkflow or defineApp returns.`);
    cli.print({ graphs }, () => graphs.map(({ mermaid }) => mermaid).join('\n'));
  },
};

async function moduleAt(file: string): Promise<object> {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as object;
  } catch (error) {
    throw new UsageError(`${file} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const isWorkflow = (value: unknown): value is WorkflowDefinition =>
  isObject(value) && typeof value['name'] === 'string' && typeof value['version'] === 'number' && isObject(value['root']);
