import { listClients, registerClient } from './clients.ts';
import { type Route, route } from './route.ts';
import * as clients from './schemas/clients.ts';
import { PageQuery, pageOf } from './schemas/common.ts';

/** The calls about registrations of clients. */
export const clientRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/clients',
    roles: ['admin'],
    summary: 'List the registered clients',
    query: PageQuery,
    answers: { 200: { description: 'A page of clients, by id', schema: pageOf(clients.Client) } },
    refusals: [],
    handle: listClients,
  }),
  route({
    method: 'PUT',
    path: '/clients/{id}',
    roles: ['admin'],
    summary: 'Register a client: its response queues, and the senders and app clients that may submit for it',
    headers: clients.ClientHeaders,
    body: clients.ClientBody,
    answers: {
      200: { description: 'The changed registration, with its `ETag`', schema: clients.Client },
      201: { description: 'The new registration, with its `ETag`', schema: clients.Client },
    },
    refusals: ['conflict', 'stale', 'precondition-required'],
    handle: registerClient,
  }),
];
