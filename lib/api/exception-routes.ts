import { listAllExceptions, listExceptionGroups, raiseException, showException } from './exceptions.ts';
import { type Route, route } from './route.ts';
import { pageOf } from './schemas/common.ts';
import { Exception, ExceptionGroup, ExceptionQuery, GroupQuery, RaiseBody, Raised } from './schemas/exceptions.ts';
import { KeyHeaders } from './schemas/instructions.ts';

/** The calls about exceptions. */
export const exceptionRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/exceptions',
    roles: ['viewer', 'operator'],
    summary: 'List exceptions, newest first',
    query: ExceptionQuery,
    answers: { 200: { description: 'A page of exceptions; it may be short, or empty, and not be the last', schema: pageOf(Exception) } },
    refusals: [],
    handle: listAllExceptions,
  }),
  route({
    method: 'GET',
    path: '/exceptions/groups',
    roles: ['viewer', 'operator'],
    summary: 'List alike exceptions together, those with the most open ones first',
    query: GroupQuery,
    answers: { 200: { description: 'A page of groups', schema: pageOf(ExceptionGroup) } },
    refusals: [],
    handle: listExceptionGroups,
  }),
  route({
    method: 'GET',
    path: '/exceptions/{id}',
    roles: ['viewer', 'operator'],
    summary: 'Show an exception',
    answers: { 200: { description: 'The exception', schema: Exception } },
    refusals: ['not-found'],
    handle: showException,
  }),
  route({
    method: 'POST',
    path: '/orders/{id}/exceptions',
    roles: ['operator'],
    summary: 'Raise an exception of an order from outside: the order stops, the rules are asked, then a person',
    headers: KeyHeaders,
    body: RaiseBody,
    answers: {
      202: {
        description:
          'The exception is recorded. On an order that is stopped or being undone it changes nothing else. The same `Idempotency-Key` again: the same answer, with `Idempotent-Replayed: true`.',
        schema: Raised,
      },
    },
    refusals: ['not-found', 'conflict', 'locked', 'idempotency-key-reused'],
    handle: raiseException,
  }),
];
