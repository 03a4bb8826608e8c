import { keysKept } from '../instance.ts';
import { closeOne, listChannels, openOne } from './channels.ts';
import { listClients, registerClient } from './clients.ts';
import { cancelOrder, signalOrder } from './from-outside.ts';
import { instructOrder } from './instructions.ts';
import { listOrders, showHistory, showOrder, submitOrder } from './orders.ts';
import { page, pageSecurityPolicy } from './page.ts';
import { showPlan } from './plan.ts';
import { json, type Route, route } from './route.ts';
import * as schemas from './schemas.ts';
import { discardMessage, listSetAside, resubmitMessage, showSetAside, treatMany } from './set-aside.ts';

const replays = `The same \`Idempotency-Key\` again changes nothing more, as long as it is among the last ${keysKept} of the order: then with \`Idempotent-Replayed: true\`.`;

/** Every call there is. A row is all that is needed for one; without a row there is none. */
export const routes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/orders',
    roles: ['client'],
    summary: 'Submit an order',
    headers: schemas.SubmissionHeaders,
    body: schemas.SubmissionBody,
    answers: {
      202: {
        description:
          'The order is stored and will be brought to an end. The same key and body again: the same bytes, with `Idempotent-Replayed: true`.',
        schema: schemas.Accepted,
      },
    },
    refusals: ['idempotency-key-reused', 'rate-limited'],
    handle: submitOrder,
  }),
  route({
    method: 'GET',
    path: '/orders',
    roles: ['client', 'operator'],
    summary: 'List orders, newest first; clients see their own',
    query: schemas.OrderListQuery,
    answers: { 200: { description: 'A page of orders', schema: schemas.pageOf(schemas.ListedOrder) } },
    refusals: [],
    handle: listOrders,
  }),
  route({
    method: 'GET',
    path: '/orders/{id}',
    roles: ['client', 'operator'],
    summary: 'Show how far an order has come',
    headers: schemas.ReadHeaders,
    answers: {
      200: { description: 'The order with all its steps. Its ETag is its rev in quotes.', schema: schemas.FullOrder },
      304: { description: 'Unchanged since the ETag in If-None-Match' },
    },
    refusals: ['not-found'],
    handle: showOrder,
  }),
  route({
    method: 'GET',
    path: '/orders/{id}/history',
    roles: ['client', 'operator'],
    summary: 'Show what happened to an order, oldest first; clients without internals',
    query: schemas.PageQuery,
    answers: { 200: { description: 'A page of the journal', schema: schemas.pageOf(schemas.HistoryEntry) } },
    refusals: ['not-found'],
    handle: showHistory,
  }),
  route({
    method: 'POST',
    path: '/orders/{id}/cancel',
    roles: ['client', 'operator'],
    summary: 'Cancel what runs and undo what was done',
    headers: schemas.KeyHeaders,
    body: schemas.CancelBody,
    answers: {
      202: {
        description: `It is being undone, and ends as cancelled. ${replays}`,
        schema: schemas.Instructed,
      },
    },
    refusals: ['not-found', 'conflict', 'locked', 'idempotency-key-reused'],
    handle: cancelOrder,
  }),
  route({
    method: 'POST',
    path: '/orders/{id}/signals/{name}',
    roles: ['client', 'operator'],
    summary: 'Send what an order waits for, or will wait for',
    headers: schemas.KeyHeaders,
    body: schemas.SignalBody,
    answers: {
      202: {
        description: `What waits for it goes on; with nothing that waits yet, it is kept. ${replays}`,
        schema: schemas.Instructed,
      },
    },
    refusals: ['not-found', 'conflict', 'locked', 'idempotency-key-reused'],
    handle: signalOrder,
  }),
  route({
    method: 'GET',
    path: '/orders/{id}/plan',
    roles: ['operator'],
    summary: 'Show what an undo of the order would do, or of one scope of it',
    query: schemas.PlanQuery,
    answers: { 200: { description: 'The steps that would be undone, in this order. Nothing was changed.', schema: schemas.UndoPlanned } },
    refusals: ['not-found'],
    handle: showPlan,
  }),
  route({
    method: 'POST',
    path: '/orders/{id}/instructions',
    roles: ['operator'],
    summary: 'Decide how an order goes on',
    headers: schemas.InstructionHeaders,
    body: schemas.InstructionBody,
    answers: {
      200: { description: 'dryRun: what the instruction would do. Nothing was changed.', schema: schemas.InstructionPlan },
      202: { description: 'Carried out', schema: schemas.Instructed },
    },
    refusals: ['not-found', 'infeasible', 'locked', 'stale', 'precondition-required'],
    handle: instructOrder,
  }),
  route({
    method: 'GET',
    path: '/channels',
    roles: ['operator'],
    summary: 'List the queue pairs of the agents and the queues of the engine: open or closed, and whether services are away',
    query: schemas.PageQuery,
    answers: { 200: { description: 'A page of channels, by name', schema: schemas.pageOf(schemas.ChannelState) } },
    refusals: [],
    handle: listChannels,
  }),
  route({
    method: 'POST',
    path: '/channels/{name}/close',
    roles: ['operator'],
    summary: 'Take nothing from a channel any more; orders that need it wait',
    body: schemas.ChannelCloseBody,
    answers: { 200: { description: 'It is closed. What feeds the functions follows within seconds.', schema: schemas.ChannelState } },
    refusals: ['not-found', 'conflict'],
    handle: closeOne,
  }),
  route({
    method: 'POST',
    path: '/channels/{name}/open',
    roles: ['operator'],
    summary: 'Open a channel again: what waited is let go, in the order in which it came',
    body: schemas.ChannelOpenBody,
    answers: { 200: { description: 'It is open. What feeds the functions follows within seconds.', schema: schemas.ChannelState } },
    refusals: ['not-found', 'conflict'],
    handle: openOne,
  }),
  route({
    method: 'GET',
    path: '/channels/{name}/set-aside',
    roles: ['operator'],
    summary: 'List the messages of a channel that nobody could process, oldest first',
    query: schemas.SetAsideQuery,
    answers: { 200: { description: 'A page of messages, without their bodies', schema: schemas.pageOf(schemas.SetAsideSummary) } },
    refusals: ['not-found'],
    handle: listSetAside,
  }),
  // Before those with an id: no message is called bulk.
  route({
    method: 'POST',
    path: '/channels/{name}/set-aside/bulk',
    roles: ['operator'],
    summary: 'Resubmit or discard all messages of a channel that fit a filter, so many a call; or say what would become of each',
    body: schemas.BulkBody,
    answers: {
      200: {
        description: 'What became of each that was looked at. `next`, as the `cursor` of the next call, goes on behind them.',
        schema: schemas.pageOf(schemas.TreatedInBulk),
      },
    },
    refusals: ['not-found', 'bad-parameter'],
    handle: treatMany,
  }),
  route({
    method: 'GET',
    path: '/channels/{name}/set-aside/{id}',
    roles: ['operator'],
    summary: 'Show a message that nobody could process, with its story',
    answers: { 200: { description: 'The message', schema: schemas.SetAsideMessage } },
    refusals: ['not-found'],
    handle: showSetAside,
  }),
  route({
    method: 'DELETE',
    path: '/channels/{name}/set-aside/{id}',
    roles: ['operator'],
    summary: 'Discard a message that nobody could process',
    body: schemas.DiscardBody,
    answers: { 200: { description: 'It is gone; with dryRun, it would be', schema: schemas.MessageTreated } },
    refusals: ['not-found', 'conflict', 'locked'],
    handle: discardMessage,
  }),
  route({
    method: 'POST',
    path: '/channels/{name}/set-aside/{id}/resubmit',
    roles: ['operator'],
    summary: 'Send a message that nobody could process once more, as it is or mended',
    body: schemas.ResubmitMessageBody,
    answers: {
      200: { description: 'dryRun: it could be sent', schema: schemas.MessageTreated },
      202: { description: 'It is sent, and set aside no more', schema: schemas.MessageTreated },
    },
    refusals: ['not-found', 'conflict', 'locked'],
    handle: resubmitMessage,
  }),
  route({
    method: 'GET',
    path: '/clients',
    roles: ['admin'],
    summary: 'List the registered clients',
    query: schemas.PageQuery,
    answers: { 200: { description: 'A page of clients, by id', schema: schemas.pageOf(schemas.Client) } },
    refusals: [],
    handle: listClients,
  }),
  route({
    method: 'PUT',
    path: '/clients/{id}',
    roles: ['admin'],
    summary: 'Say which response queues a client may name, and who may post submissions in its name',
    body: schemas.ClientBody,
    answers: { 200: { description: 'The client as it is registered now', schema: schemas.Client } },
    refusals: [],
    handle: registerClient,
  }),
  route({
    method: 'GET',
    path: '/health',
    roles: 'anyone',
    summary: 'Say that the system is alive',
    answers: { 200: { description: 'It is', schema: schemas.Health } },
    refusals: [],
    handle: () => json(200, { status: 'ok' }),
  }),
  route({
    method: 'GET',
    path: '/openapi.json',
    roles: 'anyone',
    summary: 'Show this document',
    answers: { 200: { description: 'The contract' } },
    refusals: [],
    handle: ({ api }) => ({ status: 200, text: api.openApi() }),
  }),
  route({
    method: 'GET',
    path: '/',
    roles: 'anyone',
    summary: 'Show a person what this is',
    answers: { 200: { description: 'A page' } },
    produces: 'text/html',
    refusals: [],
    handle: () => ({ status: 200, text: page, headers: { 'content-security-policy': pageSecurityPolicy, 'cache-control': 'no-cache' } }),
  }),
];
