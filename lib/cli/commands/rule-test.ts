import * as z from 'zod';
import { ruleFields } from '#authoring/rule-schema';
import type { App } from '#authoring/workflow';
import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { readRule } from '#cli/rules';
import { readData } from '#cli/submission-file';
import { table } from '#cli/text';
import { isObject } from '#core/data/json';
import { checkRule, type RuleProblem } from '#core/rules/check-rule';
import { decide } from '#core/rules/decide';
import type { Rule } from '#core/rules/rule';
import { compileRules } from '#core/rules/rule-set';
import type { Situation } from '#core/rules/situation';
import { loadDefinitions } from '#roles/definitions/load';
import { importModule } from '#runtime/app-module';

interface Options {
  situation?: string;
}

const RuleFile = z.strictObject({
  ...ruleFields,
  name: ruleFields.name.default('A rule'),
  mode: ruleFields.mode.default('enforce'),
  priority: ruleFields.priority.default(0),
  timesPerOrder: ruleFields.timesPerOrder.default(3),
});

/** Checks a rule against the workflows of an app, without a system. With a situation, it also prints what the rule decides. */
export const ruleTest: CliCommand<Options> = {
  name: 'rule test',
  summary: 'Check a rule against an app, without a running system',
  declare: (command) =>
    command
      .argument('<file>', 'JSON file with the fields of the rule')
      .argument('<module>', 'file that exports the app')
      .option('--situation <json>', 'JSON or @file: {"workflow", "event", "values"}; print what the rule decides'),

  async run(cli, { situation }, [file = '', module = '']) {
    const definitions = loadDefinitions(await appIn(module));
    const parsed = RuleFile.safeParse(await readRule(file, cli.terminal));
    const rule = { id: 'tested', origin: 'people', version: 1, ...parsed.data } as Rule;
    const problems: readonly RuleProblem[] = parsed.success
      ? checkRule(rule, definitions)
      : parsed.error.issues.map(({ path, code, message }) => ({ pointer: `/${path.join('/')}`, code, detail: message }));
    if (problems.length > 0) {
      const rows = problems.map(({ pointer, column, detail }) => [pointer, column === undefined ? '' : String(column), detail]);
      cli.print({ fits: false, problems }, () => table(['place', 'column', 'problem'], rows, cli.paint));
      return 1;
    }
    if (situation === undefined) {
      cli.print({ fits: true, problems }, () => '');
      if (!cli.json) cli.terminal.say('The rule fits the app.');
      return undefined;
    }
    // A rule whose mode is `off` or `dry-run` decides here as if it were in force.
    const set = compileRules([{ ...rule, mode: 'enforce' }], definitions);
    const { decisions, candidates } = decide(set, situationIn(await readData(situation, cli.terminal)));
    cli.print(
      { fits: true, problems, decisions, candidates },
      () => `${JSON.stringify(decisions.length > 0 ? decisions : candidates, null, 2)}\n`,
    );
    return undefined;
  },
};

async function appIn(file: string): Promise<App> {
  const found = Object.values(await importModule(file)).find(
    (value) => isObject(value) && Array.isArray(value['workflows']) && Array.isArray(value['agents']),
  );
  if (found) return found as App;
  throw new UsageError(`${file} exports no app. Export the result of defineApp.`);
}

const name = z.string();
const values = z.record(z.string(), z.json());
const Given = z.object({
  orderId: name.default('order'),
  workflow: z.object({ name, version: z.int().default(1) }),
  event: z.looseObject({ id: name.default('event'), kind: name, at: z.number().default(0) }),
  values: z
    .looseObject({ order: z.json().default(null), outputs: values.default({}), variables: values.default({}) })
    .default({ order: null, outputs: {}, variables: {} }),
});

function situationIn(value: unknown): Situation {
  const given = Given.safeParse(value);
  if (given.success) return given.data as unknown as Situation;
  const [issue] = given.error.issues;
  throw new UsageError(`The situation does not fit: /${issue?.path.join('/')}: ${issue?.message}.`);
}
