import { listAllExceptions, listExceptionGroups, showException } from './exceptions.ts';
import { type Route, route } from './route.ts';
import { pageOf } from './schemas/common.ts';
import { Exception, ExceptionGroup, ExceptionQuery, GroupQuery } from './schemas/exceptions.ts';

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
];
