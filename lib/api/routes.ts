import { auditRoutes } from './audit-routes.ts';
import { bulkRoutes } from './bulk-routes.ts';
import { closeOne, listChannels, openOne } from './channels.ts';
import { chaosRoutes } from './chaos-routes.ts';
import { cancelOrder, signalOrder } from './client-actions.ts';
import { clientRoutes } from './client-routes.ts';
import { consoleRoutes } from './console-routes.ts';
import { discardMessage, isDeadLetter, listDeadLetters, resubmitMessage, showDeadLetter, treatMany } from './dead-letters.ts';
import { dependentsRoute } from './dependents.ts';
import { eraseOrder } from './erase.ts';
import { exceptionRoutes } from './exception-routes.ts';
import { exportRoute } from './export.ts';
import { groupRoutes } from './group-routes.ts';
import { instructOrder } from './instructions.ts';
import { lockRoutes } from './lock-routes.ts';
import { listOrders, showHistory, showOrder, submitOrder } from './orders.ts';
import { overviewRoutes } from './overview-routes.ts';
import { showPlan } from './plan.ts';
import { rebuildRoute } from './rebuild.ts';
import { json, type Route, route } from './route.ts';
import { ruleRoutes } from './rule-routes.ts';
import * as channels from './schemas/channels.ts';
import { PageQuery, pageOf } from './schemas/common.ts';
import * as deadLetters from './schemas/dead-letters.ts';
import { Health } from './schemas/health.ts';
import * as instructions from './schemas/instructions.ts';
import * as orders from './schemas/orders.ts';
import { solutionRoutes } from './solution-routes.ts';
import { taskRoutes } from './task-routes.ts';
import { workflowRoutes } from './workflow-routes.ts';

const replays = 'The same `Idempotency-Key` again, within 24 hours, changes nothing more; that response has `Idempotent-Replayed: true`.';

/** The table of all calls. One row defines one call. */
export const routes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/orders',
    roles: ['client'],
    summary: 'Submit an order',
    headers: orders.SubmissionHeaders,
    body: orders.SubmissionBody,
    answers: {
      200: {
        description: 'With `Prefer: wait=S`: the order has ended or is blocked. The body is that of `GET /orders/{id}`.',
        schema: orders.ClientOrder,
      },
      202: {
        description:
          'The order is stored and will be processed. The same key and body again: the same bytes, with `Idempotent-Replayed: true`.',
        schema: orders.Accepted,
      },
    },
    refusals: ['idempotency-key-reused', 'rate-limited', 'conflict'],
    handle: submitOrder,
  }),
  route({
    method: 'GET',
    path: '/orders',
    roles: ['client', 'viewer', 'operator'],
    summary: 'List orders, newest first; clients see their own',
    query: orders.OrderListQuery,
    answers: { 200: { description: 'A page of orders', schema: pageOf(orders.ListedOrder) } },
    refusals: [],
    handle: listOrders,
  }),
  route({
    method: 'GET',
    path: '/orders/{id}',
    roles: ['client', 'viewer', 'operator'],
    summary: 'Show the state and the steps of an order; with `wait`, the answer comes when the order ends, is blocked or changes',
    query: orders.ReadQuery,
    headers: orders.ReadHeaders,
    answers: {
      200: { description: 'The order with all its steps. Its ETag is its rev in quotes.', schema: orders.FullOrder },
      304: { description: 'Unchanged since the ETag in If-None-Match' },
    },
    refusals: ['not-found', 'conflict'],
    handle: showOrder,
  }),
  route({
    method: 'GET',
    path: '/orders/{id}/history',
    roles: ['client', 'viewer', 'operator'],
    summary: 'Show the history of an order, oldest first; clients see it without internals',
    query: PageQuery,
    answers: { 200: { description: 'A page of the journal', schema: pageOf(orders.HistoryEntry) } },
    refusals: ['not-found', 'conflict'],
    handle: showHistory,
  }),
  route({
    method: 'POST',
    path: '/orders/{id}/cancel',
    roles: ['client', 'operator'],
    summary: 'Cancel an order: cancel its running steps and undo the completed ones',
    headers: instructions.KeyHeaders,
    body: instructions.CancelBody,
    answers: {
      202: {
        description: `The order is being undone and will end as canceled. ${replays}`,
        schema: instructions.Instructed,
      },
    },
    refusals: ['not-found', 'conflict', 'locked', 'idempotency-key-reused'],
    handle: cancelOrder,
  }),
  route({
    method: 'POST',
    path: '/orders/{id}/signals/{name}',
    roles: ['client', 'operator'],
    summary: 'Send a signal to an order',
    headers: instructions.KeyHeaders,
    body: instructions.SignalBody,
    answers: {
      202: {
        description: `The activity that waits for the signal continues. If none waits yet, the order keeps the signal. ${replays}`,
        schema: instructions.Instructed,
      },
    },
    refusals: ['not-found', 'conflict', 'locked', 'idempotency-key-reused'],
    handle: signalOrder,
  }),
  route({
    method: 'GET',
    path: '/orders/{id}/plan',
    roles: ['viewer', 'operator'],
    summary: 'Show what an undo of the order, or of one of its scopes, would do',
    query: instructions.PlanQuery,
    answers: { 200: { description: 'The steps that would be undone, in order. Nothing was changed.', schema: instructions.UndoPlanned } },
    refusals: ['not-found', 'conflict'],
    handle: showPlan,
  }),
  route({
    method: 'POST',
    path: '/orders/{id}/instructions',
    roles: ['operator'],
    summary: 'Give an order an instruction: resubmit, compensate, suspend, resume, terminate, …',
    headers: instructions.InstructionHeaders,
    body: instructions.InstructionBody,
    answers: {
      200: {
        description: 'With dryRun: what the instruction would do, and every reason against it. Nothing was changed.',
        schema: instructions.InstructionCheck,
      },
      202: { description: `The instruction is carried out. ${replays}`, schema: instructions.Instructed },
    },
    refusals: ['not-found', 'infeasible', 'conflict', 'locked', 'stale', 'precondition-required', 'idempotency-key-reused'],
    handle: instructOrder,
  }),
  route({
    method: 'POST',
    path: '/orders/{id}/erase',
    roles: ['admin'],
    summary: 'Erase the secrets of a finished order forever; its history stays',
    body: instructions.EraseBody,
    answers: {
      200: {
        description: 'Nobody can read the secrets any more. The same call again changes nothing.',
        schema: instructions.SecretsErased,
      },
    },
    refusals: ['not-found', 'conflict'],
    handle: eraseOrder,
  }),
  route({
    method: 'GET',
    path: '/channels',
    roles: ['viewer', 'operator'],
    summary: 'List the channels: queue depths, open or closed, and circuit breakers',
    query: PageQuery,
    answers: { 200: { description: 'A page of channels, by name', schema: pageOf(channels.ChannelState) } },
    refusals: [],
    handle: listChannels,
  }),
  route({
    method: 'POST',
    path: '/channels/{name}/close',
    roles: ['operator'],
    summary: 'Close a channel: stop consuming its queues; orders that need it wait',
    body: channels.ChannelCloseBody,
    answers: {
      200: { description: 'The channel is closed. Its functions receive no more messages within seconds.', schema: channels.ChannelState },
    },
    refusals: ['not-found', 'conflict'],
    handle: closeOne,
  }),
  route({
    method: 'POST',
    path: '/channels/{name}/open',
    roles: ['operator'],
    summary: 'Open a channel: release the waiting messages in order of arrival',
    body: channels.ChannelOpenBody,
    answers: {
      200: { description: 'The channel is open. Its functions receive messages again within seconds.', schema: channels.ChannelState },
    },
    refusals: ['not-found', 'conflict'],
    handle: openOne,
  }),
  route({
    method: 'GET',
    path: '/channels/{name}/dead-letters',
    roles: ['viewer', 'operator'],
    summary: 'List the dead letters of a channel, oldest first',
    query: deadLetters.DeadLetterQuery,
    answers: { 200: { description: 'A page of messages, without their bodies', schema: pageOf(deadLetters.DeadLetterSummary) } },
    refusals: ['not-found'],
    handle: listDeadLetters,
  }),
  // Before the routes with an id: no message has the id `bulk`.
  route({
    method: 'POST',
    path: '/channels/{name}/dead-letters/bulk',
    roles: ['operator'],
    summary: 'Resubmit or discard the dead letters of a channel that match a filter, at most 50 in one call',
    body: deadLetters.BulkBody,
    answers: {
      200: {
        description: 'The outcome of each message. Send `next` as the `cursor` of the next call to continue.',
        schema: pageOf(deadLetters.TreatedInBulk),
      },
    },
    refusals: ['not-found', 'bad-parameter'],
    handle: treatMany,
  }),
  route({
    method: 'GET',
    path: '/channels/{name}/dead-letters/{id}',
    roles: ['viewer', 'operator'],
    summary: 'Show a dead letter and its failed attempts',
    answers: { 200: { description: 'The message', schema: deadLetters.DeadLetterMessage } },
    refusals: ['not-found'],
    handle: showDeadLetter,
  }),
  route({
    method: 'DELETE',
    path: '/channels/{name}/dead-letters/{id}',
    roles: ['operator'],
    summary: 'Discard a dead letter',
    body: deadLetters.DiscardBody,
    // Many clients send no body with a DELETE. For a message that does not exist, 404 helps more than 422.
    isThere: isDeadLetter,
    answers: {
      200: {
        description: 'The dead letter is deleted. With dryRun: it can be deleted, and nothing was changed.',
        schema: deadLetters.MessageTreated,
      },
    },
    refusals: ['not-found', 'conflict', 'locked'],
    handle: discardMessage,
  }),
  route({
    method: 'POST',
    path: '/channels/{name}/dead-letters/{id}/resubmit',
    roles: ['operator'],
    summary: 'Send a dead letter again, unchanged or with a new body',
    body: deadLetters.ResubmitMessageBody,
    answers: {
      200: { description: 'With dryRun: the message can be sent, and nothing was changed', schema: deadLetters.MessageTreated },
      202: { description: 'The message is sent and is not a dead letter any more', schema: deadLetters.MessageTreated },
    },
    refusals: ['not-found', 'conflict', 'locked'],
    handle: resubmitMessage,
  }),
  ...clientRoutes,
  ...lockRoutes,
  dependentsRoute,
  rebuildRoute,
  exportRoute,
  ...exceptionRoutes,
  ...taskRoutes,
  ...groupRoutes,
  ...auditRoutes,
  ...bulkRoutes,
  ...ruleRoutes,
  ...solutionRoutes,
  ...workflowRoutes,
  ...overviewRoutes,
  ...chaosRoutes,
  route({
    method: 'GET',
    path: '/health',
    roles: 'anyone',
    summary: 'Check that the system is up',
    answers: { 200: { description: 'The system is up', schema: Health } },
    refusals: [],
    handle: () => json(200, { status: 'ok' }),
  }),
  route({
    method: 'GET',
    path: '/openapi.json',
    roles: 'anyone',
    summary: 'Get the OpenAPI document of this API',
    answers: { 200: { description: 'The OpenAPI document' } },
    refusals: [],
    handle: ({ api }) => ({ status: 200, text: api.openApi() }),
  }),
  ...consoleRoutes,
];
