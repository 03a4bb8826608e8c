import type { Cli, CliCommand } from '#cli/command';
import { MissingStoreError } from '#cli/data';
import { table } from '#cli/text';
import { appOf, declareWorkflows, type WorkflowOptions, workflowsOf } from '#cli/workflows';
import type { WorkflowDefinition } from '#core/definition/definition';
import { workflowRef } from '#core/definition/workflow-ref';
import { timeText } from '#ports/messages';
import { loadDefinitions } from '#roles/definitions/load';
import { checkDefinitions, type VersionCheck } from '#roles/definitions/recorded-definitions';
import { readConfig } from '#runtime/config';

/**
 * Checks, before a deployment, the workflows of an app against its agents. Then it shows which recorded versions have changed, and which
 * unfinished orders could not continue.
 */
export const workflowCheck: CliCommand<WorkflowOptions> = {
  name: 'workflow check',
  summary: 'Check an app, and compare it with stored orders',
  declare: declareWorkflows,

  async run(cli, options, [file = '']) {
    const workflows = await workflowsOf(file, options);
    const app = await appOf(file);
    // Rejects with all problems, as the start of the app does.
    if (app) loadDefinitions(app);
    const checks = await cli.withStore((store) => checkDefinitions(workflows, store, ordersShown + 1)).catch(withoutStore(cli, workflows));
    // On AWS, a start refuses every change, because it does not search for unfinished orders (decision 21). So this check refuses
    // every change, too.
    const isRefused = ({ found, orders }: VersionCheck) => orders.length > 0 || (found === 'changed' && cli.config.adapters === 'aws');
    const refused = checks.filter(isRefused);
    cli.print({ workflows: checks.map((check) => ({ ...viewOf(check), fits: !isRefused(check) })) }, () => {
      const rows = checks.map((check) => [workflowRef(check), foundText(check), countText(check)]);
      const orders = checks.flatMap(({ orders: all }) => all.slice(0, ordersShown));
      const list = orders.map(({ orderId, workflow, processState, submittedAt }) => [
        orderId,
        workflowRef(workflow),
        processState,
        timeText(submittedAt),
      ]);
      return [
        table(['workflow', 'compared with the record', 'orders that could not continue'], rows, cli.paint),
        ...(list.length > 0 ? [table(['order', 'workflow', 'state', 'submitted'], list, cli.paint)] : []),
        ...(refused.length > 0 ? [`${remedy}\n`] : []),
      ].join('\n');
    });
    return refused.length > 0 ? 1 : undefined;
  },
};

/** Before the first start there is nothing to compare with. A data folder that the user has named must have a store. */
const withoutStore =
  (cli: Cli, workflows: readonly WorkflowDefinition[]) =>
  (error: unknown): readonly VersionCheck[] => {
    if (!(error instanceof MissingStoreError) || cli.dataFolder !== readConfig({}).dataFolder) throw error;
    cli.terminal.say(`Nothing has started with ${cli.dataFolder} yet, so there are no orders to compare with.`);
    return workflows.map(({ name, version }) => ({ name, version, found: 'new', orders: [] }));
  };

/** Maximum number of orders that are shown for one version. */
const ordersShown = 100;

const remedy =
  'Give a changed workflow a new version, and keep each version in the app until all of its orders are finished. See docs/guides/writing-workflows.md, "A new version".';

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
