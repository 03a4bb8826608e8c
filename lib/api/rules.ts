import type * as z from 'zod';
import { type JsonObject, sortedText } from '#core/data/json';
import { checkRule } from '#core/rules/check-rule';
import { literalOf, type RuleLiteral } from '#core/rules/literals';
import { type Rule, ruleIdPattern } from '#core/rules/rule';
import { timeText } from '#ports/messages';
import { validatorOf } from '#ports/util/validation';
import { type RuleCounts, ruleCounts } from '#roles/rules/counts';
import type { RuleVersion, RuleWrite } from '#roles/rules/rules';
import { bodyProblems } from '#roles/submission/submission';
import { audited } from './audited.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor, etagOf } from './orders.ts';
import { badParameter, type ProblemError, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { PageQuery } from './schemas/common.ts';
import type { RuleBody, RuleDeletion, RuleHeaders, RuleQuery } from './schemas/rules.ts';
import { conditionRefusal, lostRefusal } from './versioned.ts';

type Paged = Call<z.output<typeof PageQuery>>;

export async function listRules({ api, caller, query }: Paged): Promise<Answer | Refusal> {
  const scope = { key: api.cursorKey, bound: ['rules', caller.subject] };
  const after = query.cursor === undefined ? [''] : openCursor(query.cursor, scope);
  if (!after) return badCursor;
  const [all, countsOf] = await Promise.all([api.rules.list(), ruleCounts(api.store)]);
  const rest = all.filter(({ id }) => id > String(after[0]));
  const items = rest.slice(0, query.limit);
  const last = items.at(-1);
  const next = rest.length > items.length && last ? sealCursor([last.id], scope) : null;
  return json(200, { items: items.map((rule) => ruleView(rule, countsOf(rule.id))), next });
}

export async function showRule({ api, id, query }: Call<z.output<typeof RuleQuery>>): Promise<Answer | Refusal> {
  const rule = query.version === undefined ? await api.rules.rule(id) : await versionOf(api, id, query.version);
  if (!rule) return refuse('not-found');
  return answered(200, rule, (await ruleCounts(api.store))(id));
}

async function versionOf({ rules }: Pick<Call['api'], 'rules'>, id: string, version: number): Promise<Rule | undefined> {
  const [found] = await rules.versions(id, version + 1, 1);
  return found?.version === version && found.rule ? found.rule : undefined;
}

export async function listRuleVersions({ api, caller, id, query }: Paged): Promise<Answer | Refusal> {
  const scope = { key: api.cursorKey, bound: ['rule-versions', id, caller.subject] };
  const opened = query.cursor === undefined ? [] : openCursor(query.cursor, scope);
  if (!opened) return badCursor;
  const items = await api.rules.versions(id, opened[0] === undefined ? undefined : Number(opened[0]), query.limit);
  const last = items.at(-1);
  if (!last && query.cursor === undefined) return refuse('not-found');
  const next = items.length === query.limit && last ? sealCursor([last.version], scope) : null;
  return json(200, { items: items.map(versionView), next });
}

type Put = Call<unknown, z.output<typeof RuleHeaders>, z.output<typeof RuleBody>>;

/** Writes a rule, if it is still the version that the admin has read. Of a rule that the app declares, only the mode may change. */
export async function putRule(call: Put): Promise<Answer | Refusal> {
  const { api, caller, id, headers, body, requestId } = call;
  if (!ruleIdPattern.test(id)) return badParameter('/id', 'invalid-format', 'id: expected 1 to 64 of a-z, 0-9 and "-".');
  const before = await api.rules.rule(id);
  const refusal = conditionRefusal(headers['if-match'], before?.version);
  if (refusal) return refusal;
  const declaredName = before?.origin === 'app' ? before.name : undefined;
  const { reason, origin = before?.origin ?? 'people', name = declaredName ?? id, ...fields } = body;
  const given = { ...fields, id, name, origin } as Omit<Rule, 'version'>;
  const errors = before?.origin === 'app' ? changesOfApp(before, given) : peopleProblems(given, api);
  if (errors.length > 0) return refuse('invalid', { errors });
  const draft = before?.origin === 'app' ? { ...before, mode: given.mode } : given;

  const written = await audited(
    call,
    { kind: 'rule', target: id, action: before ? 'change' : 'create', reason },
    (beside) => api.rules.put(draft, { by: caller.subject, reason, expected: before?.version, beside }),
    ({ outcome }) => outcome === 'written',
  );
  if (written.outcome !== 'written') return writeRefusal(written, headers['if-match']);
  api.telemetry.log('info', 'rule written', { requestId, by: caller.subject, rule: id, version: written.rule.version });
  return answered(written.isNew ? 201 : 200, written.rule, (await ruleCounts(api.store))(id));
}

const peopleProblems = (draft: Omit<Rule, 'version'>, api: Pick<Call['api'], 'definitions'>): readonly ProblemError[] => {
  const wrong =
    draft.origin === 'app' ? [{ pointer: '/origin', code: 'not-declared', detail: 'The app declares no rule of this id.' }] : [];
  return [...wrong, ...ruleProblems({ ...draft, version: 1 }, api)];
};

/** Returns why a rule does not fit the app. */
export function ruleProblems(rule: Rule, { definitions }: Pick<Call['api'], 'definitions'>): readonly ProblemError[] {
  const errors = checkRule(rule, definitions);
  return errors.length > 0 ? errors : literalProblems(literalOf(rule, definitions));
}

/** Returns the problems with the value of an action if no version of the workflow accepts it: those with the first version. */
function literalProblems(literal: RuleLiteral | undefined): readonly ProblemError[] {
  if (!literal) return [];
  const { pointer, value, schemas } = literal;
  const problems = schemas.map((schema) => bodyProblems(validatorOf(schema), value, pointer));
  return problems.some((each) => each.length === 0) ? [] : (problems[0] ?? []);
}

const fromApp =
  'The app declares this rule: only its mode may change here. Send this field as GET /rules/{id} shows it, or change it in the app.';

/** Returns an error for each field other than the mode that differs from the rule of the app. */
function changesOfApp(declared: Rule, draft: Omit<Rule, 'version'>): readonly ProblemError[] {
  const [before, after] = [declared, draft].map((rule) => JSON.parse(JSON.stringify(rule)) as JsonObject);
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  for (const free of ['id', 'version', 'mode']) fields.delete(free);
  return [...fields]
    .filter((field) => sortedText(before?.[field] ?? null) !== sortedText(after?.[field] ?? null))
    .map((field) => ({ pointer: `/${field}`, code: 'from-app', detail: fromApp }));
}

type Delete = Call<z.output<typeof RuleDeletion>, z.output<typeof RuleHeaders>>;

export async function deleteRule(call: Delete): Promise<Answer | Refusal> {
  const { api, caller, id, headers, query, requestId } = call;
  const before = await api.rules.rule(id);
  if (!before) return refuse('not-found');
  const refusal = conditionRefusal(headers['if-match'], before?.version);
  if (refusal) return refusal;
  if (before.origin === 'app')
    return refuse('conflict', { errors: [{ pointer: '', code: 'from-app', detail: 'The app declares this rule. Set its mode to off.' }] });
  const { reason } = query;
  const removed = await audited(
    call,
    { kind: 'rule', target: id, action: 'delete', reason },
    (beside) => api.rules.remove(id, { by: caller.subject, reason, expected: before.version, beside }),
    (result) => result?.outcome === 'written',
  );
  if (!removed) return refuse('not-found');
  if (removed.outcome !== 'written') return writeRefusal(removed, headers['if-match']);
  api.telemetry.log('info', 'rule deleted', { requestId, by: caller.subject, rule: id });
  return json(200, { id, deletedAt: timeText(api.clock.now()) });
}

function writeRefusal(written: Exclude<RuleWrite, { outcome: 'written' }>, ifMatch: string | undefined): Refusal {
  if (written.outcome === 'too-many') return refuse('invalid', { errors: written.problems });
  return lostRefusal(ifMatch, written.current?.version);
}

const answered = (status: 200 | 201, rule: Rule, counts: RuleCounts): Answer =>
  json(status, ruleView(rule, counts), { headers: { etag: etagOf(rule.version) } });

const ruleView = (rule: Rule, { lastHitAt, ...counts }: RuleCounts) => ({
  ...rule,
  ...counts,
  lastHitAt: lastHitAt === null ? null : timeText(lastHitAt),
});

const versionView = ({ at, ...version }: RuleVersion) => ({ ...version, at: at === null ? null : timeText(at) });
