import { type Route, route } from './route.ts';
import { PageQuery, pageOf } from './schemas/common.ts';
import * as solutions from './schemas/solutions.ts';
import { deleteSolution, listSolutions, putSolution, ruleOfSolution, showSolution } from './solutions.ts';

/** The calls about instructions that people keep for the next time. */
export const solutionRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/solutions',
    roles: ['viewer', 'operator'],
    summary: 'List the solutions with how often they worked',
    query: PageQuery,
    answers: { 200: { description: 'A page of solutions, by id', schema: pageOf(solutions.Solution) } },
    refusals: [],
    handle: listSolutions,
  }),
  route({
    method: 'GET',
    path: '/solutions/{id}',
    roles: ['viewer', 'operator'],
    summary: 'Show a solution',
    answers: { 200: { description: 'The solution. Its ETag is its version in quotes.', schema: solutions.Solution } },
    refusals: ['not-found'],
    handle: showSolution,
  }),
  route({
    method: 'PUT',
    path: '/solutions/{id}',
    roles: ['operator'],
    summary: 'Write a solution',
    headers: solutions.SolutionHeaders,
    body: solutions.SolutionBody,
    answers: {
      200: { description: 'The changed solution, with its `ETag`', schema: solutions.Solution },
      201: { description: 'The new solution, with its `ETag`', schema: solutions.Solution },
    },
    refusals: ['conflict', 'stale', 'precondition-required'],
    handle: putSolution,
  }),
  route({
    method: 'DELETE',
    path: '/solutions/{id}',
    roles: ['operator'],
    summary: 'Delete a solution; tasks that it resolved still name it',
    query: solutions.SolutionDeletion,
    headers: solutions.SolutionHeaders,
    answers: { 200: { description: 'The solution is deleted', schema: solutions.SolutionDeleted } },
    refusals: ['not-found', 'stale', 'precondition-required'],
    handle: deleteSolution,
  }),
  route({
    method: 'POST',
    path: '/solutions/{id}/rule',
    roles: ['operator'],
    summary: 'Make the definition of a rule that does by itself what a solution does; nothing is written',
    body: solutions.RuleOfSolutionBody,
    answers: { 200: { description: 'The rule, in dry-run: back-test it, then put it', schema: solutions.RuleOfSolution } },
    refusals: ['not-found'],
    handle: ruleOfSolution,
  }),
];
