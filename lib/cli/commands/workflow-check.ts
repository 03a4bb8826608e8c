import type { CliCommand } from '#cli/command';
import { table } from '#cli/text';
import { declareWorkflows, type WorkflowOptions, workflowsOf } from '#cli/workflows';
import { timeText } from '#ports/messages';
import { checkDefinitions, type VersionCheck } from '#roles/definitions/recorded-definitions';

/** Before a deployment: which versions are not what they were, and which orders under way would not go on. */
export const workflowCheck: CliCommand<WorkflowOptions> = {
  name: 'workflow check',
  summary: 'compare workflows with those of the stored orders',
  declare: declareWorkflows,

  async run(cli, options, [file = '']) {
    const workflows = await workflowsOf(file, options);
    const checks = await cli.withStore((store) => checkDefinitions(workflows, store, ordersShown + 1));
    // On AWS no start looks for orders: see decision 21.
    const isRefused = ({ found, orders }: VersionCheck) => orders.length > 0 || (found === 'changed' && cli.config.adapters === 'aws');
    const refused = checks.filter(isRefused);
    cli.print({ workflows: checks.map((check) => ({ ...viewOf(check), fits: !isRefused(check) })) }, () => {
      const rows = checks.map((check) => [`${check.name}@${check.version}`, foundText(check), countText(check)]);
      const orders = checks.flatMap(({ orders: all }) => all.slice(0, ordersShown));
      const list = orders.map(({ orderId, workflow, processState, submittedAt }) => [
        orderId,
        `${workflow.name}@${workflow.version}`,
        processState,
        timeText(submittedAt),
      ]);
      return [
        table(['workflow', 'compared with what is recorded', 'orders that would not go on'], rows, cli.paint),
        ...(list.length > 0 ? [table(['order', 'workflow', 'state', 'submitted'], list, cli.paint)] : []),
        ...(refused.length > 0 ? [`${remedy}\n`] : []),
      ].join('\n');
    });
    return refused.length > 0 ? 1 : undefined;
  },
};

/** Of each version; who wants all of them lists the orders. */
const ordersShown = 100;

const remedy =
  'Give a changed workflow a new version, and keep each version in the app until none of its orders is under way. docs/workflows.md, "A new version".';

const viewOf = ({ orders, ...check }: VersionCheck) => ({
  ...check,
  orders: orders.slice(0, ordersShown).map(({ orderId, workflow, processState, submittedAt }) => ({
    orderId,
    workflow,
    processState,
    submittedAt: timeText(submittedAt),
  })),
  more: orders.length > ordersShown,
});

const foundText = ({ found, place }: VersionCheck): string =>
  found === 'changed' && place !== undefined ? `changed: ${place}` : found === 'missing' ? 'not in this app' : found;

const countText = ({ orders }: VersionCheck): string => (orders.length > ordersShown ? `more than ${ordersShown}` : String(orders.length));
