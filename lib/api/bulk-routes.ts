import { createBulkRun, listBulkItems, listBulkRuns, pauseBulkRun, resumeBulkRun, showBulkRun, startBulkRun, stopBulkRun } from './bulk.ts';
import { type Route, route } from './route.ts';
import * as bulk from './schemas/bulk.ts';
import { pageOf } from './schemas/common.ts';
import { KeyHeaders } from './schemas/instructions.ts';

/** The acts on a run. Any operator may act on any run. */
const acts = [
  { action: 'start', summary: 'Start a bulk run that is ready, for exactly the orders that were frozen', handle: startBulkRun },
  { action: 'pause', summary: 'Pause a bulk run', handle: pauseBulkRun },
  { action: 'resume', summary: 'Resume a paused bulk run', handle: resumeBulkRun },
  { action: 'stop', summary: 'Stop a bulk run for good', handle: stopBulkRun },
] as const;

/** The calls about bulk runs: one instruction for many orders. */
export const bulkRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/bulk',
    roles: ['operator'],
    summary: 'Prepare one instruction for many orders: freeze the set, and check each order',
    headers: bulk.BulkHeaders,
    body: bulk.BulkBody,
    answers: {
      202: {
        description: 'The bulk run is prepared. The same key and body again: the same answer, with `Idempotent-Replayed: true`.',
        schema: bulk.BulkCreated,
      },
    },
    refusals: ['idempotency-key-reused'],
    handle: createBulkRun,
  }),
  route({
    method: 'GET',
    path: '/bulk',
    roles: ['viewer', 'operator'],
    summary: 'List the bulk runs, newest first',
    query: bulk.BulkQuery,
    answers: { 200: { description: 'A page of bulk runs', schema: pageOf(bulk.ListedBulkRun) } },
    refusals: [],
    handle: listBulkRuns,
  }),
  route({
    method: 'GET',
    path: '/bulk/{id}',
    roles: ['viewer', 'operator'],
    summary: 'Show a bulk run with its figures',
    answers: { 200: { description: 'The bulk run', schema: bulk.BulkRun } },
    refusals: ['not-found'],
    handle: showBulkRun,
  }),
  route({
    method: 'GET',
    path: '/bulk/{id}/items',
    roles: ['viewer', 'operator'],
    summary: 'List the orders of a bulk run with their outcomes, by order',
    query: bulk.BulkItemQuery,
    answers: { 200: { description: 'A page of orders; it may be short, or empty, and not be the last', schema: pageOf(bulk.BulkItem) } },
    refusals: ['not-found'],
    handle: listBulkItems,
  }),
  ...acts.map(({ action, summary, handle }) =>
    route({
      method: 'POST',
      path: `/bulk/{id}/${action}`,
      roles: ['operator'],
      summary,
      headers: KeyHeaders,
      body: bulk.BulkActBody,
      answers: { 200: { description: 'The bulk run as it is now', schema: bulk.BulkRun } },
      refusals: ['not-found', 'conflict', 'idempotency-key-reused'],
      handle,
    }),
  ),
];
