import { listClusters } from './clusters.ts';
import { checkStoredHistories } from './histories.ts';
import { type Route, route } from './route.ts';
import { Cluster, ClusterQuery } from './schemas/clusters.ts';
import { PageQuery, pageOf } from './schemas/common.ts';
import { CheckedHistories, HistoriesBody, ListedWorkflow, Workflow } from './schemas/workflows.ts';
import { listWorkflows, showWorkflow } from './workflows.ts';

/** The calls about the definitions of the app. */
export const workflowRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/workflows',
    roles: ['viewer', 'operator'],
    summary: 'List the workflows with their versions, and how many unfinished orders each version has',
    query: PageQuery,
    answers: { 200: { description: 'A page of workflows, by name', schema: pageOf(ListedWorkflow) } },
    refusals: [],
    handle: listWorkflows,
  }),
  // Before the versions: the first route that fits a path serves it.
  route({
    method: 'GET',
    path: '/workflows/{name}/clusters',
    roles: ['viewer', 'operator'],
    summary: 'List alike exceptions of a workflow, with a change of its definition drawn from resolutions that passed',
    query: ClusterQuery,
    answers: { 200: { description: 'A page of clusters, those with the most open exceptions first', schema: pageOf(Cluster) } },
    refusals: ['not-found'],
    handle: listClusters,
  }),
  route({
    method: 'GET',
    path: '/workflows/{name}/{version}',
    roles: ['viewer', 'operator'],
    summary: 'Show one version of a workflow: its graph, its steps with their schemas and orders, and what becomes of each fault',
    answers: { 200: { description: 'The definition', schema: Workflow } },
    refusals: ['not-found'],
    handle: showWorkflow,
  }),
  route({
    method: 'POST',
    path: '/workflows/{name}/{version}/check',
    roles: ['operator'],
    summary:
      'Say whether the histories of stored orders fit a version of their workflow; with `cluster`, whether the orders would have needed no person with a proposed change',
    body: HistoriesBody,
    answers: { 200: { description: 'The orders of one page', schema: CheckedHistories } },
    refusals: ['not-found', 'bad-parameter', 'invalid'],
    handle: checkStoredHistories,
  }),
];
