import type { CliCommand } from '#cli/command';
import { listed } from '#cli/orders';
import { table } from '#cli/text';
import { workflowPath } from '#cli/workflows';

interface VersionView {
  readonly version: number;
  readonly live: number;
  readonly inApp: boolean;
}

interface WorkflowView {
  readonly name: string;
  readonly version: number | null;
  readonly versions: readonly VersionView[];
  readonly asOf: string;
}

interface StepView {
  readonly path: string;
  readonly activity: string;
  readonly agent: string | null;
  readonly operation: string | null;
  readonly blocked: number;
  readonly running: number;
}

const workflowsMax = 10_000;

/** Lists the workflows of a running system with the number of unfinished orders of each version. */
export const workflowList: CliCommand = {
  name: 'workflow list',
  summary: 'List the workflows of a running system, with the unfinished orders of each version',

  async run(cli) {
    const items = await listed<WorkflowView>(await cli.api('viewer'), '/workflows', {}, workflowsMax);
    const rows = items.flatMap(({ name, version, versions }) =>
      versions.map((each) => [
        `${name}@${each.version}`,
        String(each.live),
        each.inApp ? (each.version === version ? 'new orders' : '') : 'not in the app',
      ]),
    );
    cli.print({ items }, () => (rows.length > 0 ? table(['workflow', 'unfinished orders', ''], rows, cli.paint) : ''));
  },
};

/** Shows where the orders of one version are. */
export const workflowShow: CliCommand = {
  name: 'workflow show',
  summary: 'Show the orders at each step of a version of a workflow',
  declare: (command) => command.argument('<workflow>', 'name and version: fulfil-order@1'),

  async run(cli, _, [ref = '']) {
    const path = workflowPath(ref);
    const { body } = await (await cli.api('viewer')).call<{ readonly asOf: string; readonly steps: readonly StepView[] }>('GET', path);
    const rows = body.steps.map(({ path: step, agent, operation, activity, running, blocked }) => [
      step,
      agent === null ? activity : `${agent}.${operation}`,
      String(running),
      String(blocked),
    ]);
    cli.print(body, () => `As of ${body.asOf}:\n${table(['step', 'does', 'running', 'blocked'], rows, cli.paint)}`);
  },
};
