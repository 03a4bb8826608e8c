import type { App } from '#authoring/workflow';

/**
 * Returns the workflow of orders that name none: the only one of the app. Undefined if the app has several: each order must then name its
 * own.
 */
export function onlyWorkflowOf({ workflows }: Pick<App, 'workflows'>): string | undefined {
  const [first, ...others] = new Set(workflows.map(({ name }) => name));
  return others.length === 0 ? first : undefined;
}
