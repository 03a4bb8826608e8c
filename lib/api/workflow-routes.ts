import { type Route, route } from './route.ts';
import { Workflow } from './schemas/workflows.ts';
import { showWorkflow } from './workflows.ts';

/** The calls about the definitions of the app. */
export const workflowRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/workflows/{name}/{version}',
    roles: ['viewer', 'operator'],
    summary: 'Show one version of a workflow: its graph, its steps and their schemas',
    answers: { 200: { description: 'The definition', schema: Workflow } },
    refusals: ['not-found'],
    handle: showWorkflow,
  }),
];
