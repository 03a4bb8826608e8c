import * as z from 'zod';
import { ruleFields } from '#authoring/rule-schema';
import { ruleLimits } from '#core/rules/rule';
import { verdicts } from '#ports/tasks';
import { backTestLimits } from '#roles/rules/back-test';
import { cursor, reason, time, timeOrNull } from './common.ts';

const origin = z.enum(['app', 'people']);
const version = z.int().min(1);

export const RuleBody = z.strictObject({
  ...ruleFields,
  name: ruleFields.name.exactOptional().describe('default: the id'),
  origin: origin.exactOptional().describe('if it is given, it must be the origin of the rule'),
  mode: ruleFields.mode.default('dry-run'),
  priority: ruleFields.priority.default(0),
  timesPerOrder: ruleFields.timesPerOrder.default(ruleLimits.timesPerOrderDefault),
  reason,
});

/** The rule of a back-test: as a PUT has it, with any mode. */
const testedRule = RuleBody.omit({ reason: true }).extend({
  id: z.string().exactOptional(),
  reason: reason.exactOptional(),
});

export const BackTestBody = z.strictObject({
  rule: testedRule,
  days: z.int().min(1).max(backTestLimits.daysMax).describe('how many days back exceptions are examined'),
  cursor: cursor.describe('the `next` of the page before, with the same rule and days'),
  limit: z.int().min(1).max(backTestLimits.pageMax).default(backTestLimits.pageMax).describe('most exceptions that this page examines'),
});

export const RuleHeaders = z.object({
  'if-match': z
    .string()
    .regex(/^"[1-9]\d{0,14}"$/, 'expected the ETag of the rule in quotes, such as "7"')
    .exactOptional()
    .describe('required for a change: the ETag of the rule, which is its version in quotes'),
});

export const RuleQuery = z.strictObject({
  version: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'expected a version: a whole number from 1')
    .transform(Number)
    .pipe(version)
    .exactOptional()
    .describe('an earlier version'),
});

export const RuleDeletion = z.strictObject({ reason: z.string().min(1).max(1024).regex(/\S/, 'expected a reason') });

const counted = z.int().min(0);

export const BackTest = z.strictObject({
  examined: counted.describe('exceptions on this page'),
  matched: counted.describe('exceptions about which the rule would have acted'),
  sameOutcome: counted.describe('those whose resolution was of the same kind, and has passed'),
  differs: counted.describe('the other matched ones: another kind, not passed, or open'),
  items: z
    .array(
      z.strictObject({
        orderId: z.string(),
        exceptionId: z.string(),
        at: time,
        wouldHave: z.looseObject({ kind: z.string() }).describe('the action with its values'),
        whatHappened: z
          .strictObject({
            by: z.enum(['rule', 'recovery', 'person', 'supervisor']),
            id: z.string().exactOptional().describe("the rule's id, or the person's sub"),
            kind: z.string().exactOptional().describe("of a rule's action, or of a person's instruction"),
            verified: z.enum(verdicts).exactOptional(),
            at: time,
          })
          .nullable()
          .describe('null: the exception is open'),
      }),
    )
    .describe(`the newest matched ones, at most ${backTestLimits.itemsMax}`),
  next: z.string().nullable(),
});

export const Rule = z.strictObject({
  id: z.string(),
  origin,
  ...ruleFields,
  version,
  hits: counted.describe('how often its condition was true; approximate, as the other figures'),
  lastHitAt: timeOrNull,
  acted: counted,
  passed: counted,
  failedAgain: counted,
});

export const RuleVersion = z.strictObject({
  version,
  at: timeOrNull.describe('null: the version that the app declares'),
  by: z.string().nullable(),
  reason: z.string().nullable(),
  rule: z
    .strictObject({ id: z.string(), origin, ...ruleFields, version })
    .nullable()
    .describe('null: this change deleted the rule'),
});

export const RuleDeleted = z.strictObject({ id: z.string(), deletedAt: time });
