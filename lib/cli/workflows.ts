import type { Command } from 'commander';
import type { App } from '#authoring/workflow';
import { isObject } from '#core/data/json';
import type { WorkflowDefinition } from '#core/definition/definition';
import { parseWorkflowRef } from '#core/definition/workflow-ref';
import { importModule } from '#runtime/app-module';
import { UsageError } from './errors.ts';
import { printable } from './text.ts';

/** Returns the path of a version in the API, for a text such as `fulfil-order@2`. */
export function workflowPath(text: string): string {
  const { name, version } = parseWorkflowRef(text);
  if (name === '' || !Number.isSafeInteger(version))
    throw new UsageError(`Expected a name and a version, such as fulfil-order@1, and not ${printable(text)}.`);
  return `/workflows/${encodeURIComponent(name)}/${version}`;
}

/** Options of the commands about workflows. */
export interface WorkflowOptions {
  readonly workflow?: string;
}

export const declareWorkflows = (command: Command): Command =>
  command.argument('<module>', 'file that exports workflows or an app').option('--workflow <name>', 'only the workflow with this name');

/** Returns the workflows that a module exports, or those of its app. Rejects with UsageError when there are none. */
export async function workflowsOf(file: string, { workflow: wanted }: WorkflowOptions): Promise<readonly WorkflowDefinition[]> {
  const module = await importModule(file);
  const exported = Object.values(module).flatMap((value) =>
    isObject(value) && Array.isArray(value['workflows']) ? (value['workflows'] as unknown[]) : [value],
  );
  const workflows = [...new Set(exported)].filter(isWorkflow);
  if (workflows.length === 0)
    throw new UsageError(`${file} exports no workflow and no app. Export the result of defineWorkflow or defineApp.`);
  const chosen = wanted === undefined ? workflows : workflows.filter(({ name }) => name === wanted);
  if (chosen.length === 0)
    throw new UsageError(`${file} has no workflow ${wanted}. It has: ${workflows.map(({ name }) => name).join(', ')}.`);
  return chosen;
}

/** Returns the app that a module exports; undefined if it exports workflows only. */
export async function appOf(file: string): Promise<App | undefined> {
  const app = (await importModule(file))['default'];
  return isObject(app) && Array.isArray(app['workflows']) && Array.isArray(app['agents']) ? (app as unknown as App) : undefined;
}

const isWorkflow = (value: unknown): value is WorkflowDefinition =>
  isObject(value) && typeof value['name'] === 'string' && typeof value['version'] === 'number' && isObject(value['root']);
