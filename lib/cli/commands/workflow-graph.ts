import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { declareWorkflows, type WorkflowOptions, workflowsOf } from '#cli/workflows';

interface Options extends WorkflowOptions {
  readonly svg?: boolean;
}

/** Draws workflows as Mermaid text, which GitHub renders, or as an SVG picture. */
export const workflowGraph: CliCommand<Options> = {
  name: 'workflow graph',
  summary: 'Draw workflows as Mermaid text or SVG',
  declare: (command) => declareWorkflows(command).option('--svg', 'draw one workflow as an SVG document'),

  async run(cli, options, [file = '']) {
    const workflows = await workflowsOf(file, options);
    if (options.svg && workflows.length > 1 && !cli.json)
      throw new UsageError(`${file} has several workflows. Choose one with --workflow: ${workflows.map(({ name }) => name).join(', ')}.`);
    const { drawingOf } = await import('#core/views/diagram');
    const { mermaidOf } = await import('#core/views/mermaid');
    const { svgOf } = await import('#diagrams/svg');
    const form = options.svg ? 'svg' : 'mermaid';
    const graphs = workflows.map((workflow) => ({
      workflow,
      text: options.svg ? svgOf(drawingOf(workflow)) : mermaidOf(workflow),
    }));
    cli.print({ graphs: graphs.map(({ workflow: { name, version }, text }) => ({ name, version, [form]: text })) }, () =>
      graphs.map(({ text }) => text).join('\n'),
    );
  },
};
