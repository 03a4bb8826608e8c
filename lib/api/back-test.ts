import type * as z from 'zod';
import type { JsonObject } from '#core/data/json';
import type { Rule } from '#core/rules/rule';
import { timeText } from '#ports/messages';
import { dayMs } from '#ports/util/days';
import { type BackTested, backTest, backTestProblems } from '#roles/rules/back-test';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor } from './orders.ts';
import { type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import { ruleProblems } from './rules.ts';
import type { BackTestBody } from './schemas/rules.ts';

/** Examines a page of past exceptions: what a rule would have done about them, and what happened. It changes nothing. */
export async function backTestRule({
  api,
  caller,
  body,
}: Call<unknown, unknown, z.output<typeof BackTestBody>>): Promise<Answer | Refusal> {
  const { days, cursor, limit } = body;
  const { reason: _, id = 'tested', name = id, origin: __, ...fields } = body.rule;
  const rule = { ...fields, id, name, origin: 'people', version: 1 } as Rule;
  const problems = [...ruleProblems(rule, api), ...backTestProblems(rule)];
  if (problems.length > 0) return refuse('invalid', { errors: problems.map((each) => ({ ...each, pointer: `/rule${each.pointer}` })) });

  const now = api.clock.now();
  const scope = { key: api.cursorKey, bound: ['back-test', caller.subject, days, rule as unknown as JsonObject] };
  const opened = cursor === undefined ? [] : openCursor(cursor, scope);
  if (!opened) return badCursor;
  // All pages examine the same days, however long they take.
  const [after, since = now - days * dayMs] = opened;
  const extent = { since: Number(since), now, after: after === undefined ? undefined : String(after), limit };
  const { items, next, ...figures } = await backTest(rule, extent, api);
  return json(200, { ...figures, items: items.map(itemView), next: next === undefined ? null : sealCursor([next, since], scope) });
}

const itemView = ({ at, whatHappened, ...item }: BackTested) => ({
  ...item,
  at: timeText(at),
  whatHappened: whatHappened && { ...whatHappened, at: timeText(whatHappened.at) },
});
