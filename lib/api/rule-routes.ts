import { backTestRule } from './back-test.ts';
import { type Route, route } from './route.ts';
import { deleteRule, listRules, listRuleVersions, putRule, showRule } from './rules.ts';
import { PageQuery, pageOf } from './schemas/common.ts';
import { BackTest, BackTestBody, Rule, RuleBody, RuleDeleted, RuleDeletion, RuleHeaders, RuleQuery, RuleVersion } from './schemas/rules.ts';

/** The calls about rules. An admin writes them. */
export const ruleRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/rules',
    roles: ['viewer', 'operator'],
    summary: 'List the rules of the app and of people',
    query: PageQuery,
    answers: { 200: { description: 'A page of rules, by id', schema: pageOf(Rule) } },
    refusals: [],
    handle: listRules,
  }),
  route({
    method: 'GET',
    path: '/rules/{id}',
    roles: ['viewer', 'operator'],
    summary: 'Show a rule, or an earlier version of it',
    query: RuleQuery,
    answers: { 200: { description: 'The rule. Its ETag is its version in quotes.', schema: Rule } },
    refusals: ['not-found'],
    handle: showRule,
  }),
  route({
    method: 'GET',
    path: '/rules/{id}/versions',
    roles: ['viewer', 'operator'],
    summary: 'List the versions of a rule, newest first, with who changed it and why',
    query: PageQuery,
    answers: { 200: { description: 'A page of versions', schema: pageOf(RuleVersion) } },
    refusals: ['not-found'],
    handle: listRuleVersions,
  }),
  route({
    method: 'PUT',
    path: '/rules/{id}',
    roles: ['admin'],
    summary: 'Write a rule; of a rule that the app declares, only the mode can be changed',
    headers: RuleHeaders,
    body: RuleBody,
    answers: {
      200: { description: 'The changed rule, with its `ETag`. It takes effect within ten seconds.', schema: Rule },
      201: { description: 'The new rule, with its `ETag`. It takes effect within ten seconds.', schema: Rule },
    },
    refusals: ['stale', 'precondition-required'],
    handle: putRule,
  }),
  route({
    method: 'POST',
    path: '/rules/back-test',
    roles: ['operator'],
    summary: 'Compare what a rule would have done about past exceptions with what happened; nothing is changed',
    body: BackTestBody,
    answers: { 200: { description: 'The figures of one page, newest exceptions first', schema: BackTest } },
    refusals: [],
    handle: backTestRule,
  }),
  route({
    method: 'DELETE',
    path: '/rules/{id}',
    roles: ['admin'],
    summary: 'Delete a rule; its versions are kept',
    query: RuleDeletion,
    headers: RuleHeaders,
    answers: { 200: { description: 'The rule is deleted', schema: RuleDeleted } },
    refusals: ['not-found', 'conflict', 'stale', 'precondition-required'],
    handle: deleteRule,
  }),
];
