import { Option } from 'commander';
import type { CliCommand } from '#cli/command';
import { verdictWords } from '#cli/decision-rows';
import type { Api } from '#cli/http';
import { textOption, wholeOption } from '#cli/options';
import { listed, resolveOrderId, timeOf } from '#cli/orders';
import type { TaskView } from '#cli/tasks';
import { printable, table } from '#cli/text';
import { auditKinds } from '#ports/audit';

interface EntryView {
  readonly at: string;
  readonly by: string;
  readonly kind: string;
  readonly target: string;
  readonly action: string;
  readonly reason: string | null;
}

interface Options {
  by?: string;
  kind?: string;
  target?: string;
  since?: string;
  reads?: true;
  limit: number;
}

/** Lists what people did. */
export const audit: CliCommand<Options> = {
  name: 'audit',
  summary: 'List what people did, newest first',
  declare: (command) =>
    command
      .option('--by <person>', 'only entries of this person', textOption)
      .addOption(new Option('--kind <kind>', 'only entries of this kind').choices(auditKinds))
      .option('--target <id>', 'only entries about this order, channel, client, or dead letter as channel/id', textOption)
      .option('--since <time>', 'only entries from this time on: 2026-01-31T12:00:00Z', textOption)
      .option('--reads', 'also who has read which order; left out otherwise')
      .option('--limit <number>', 'list at most this many entries', wholeOption(1, 100_000), 100),

  async run(cli, { by, kind, target: given, since, reads, limit }) {
    const api = await cli.api('operator');
    // Other targets, such as channels, are given in full.
    const target = given?.startsWith('ord_') ? await resolveOrderId(api, given) : given;
    const showsReads = reads || kind !== undefined;
    const keep = showsReads ? undefined : (entry: EntryView) => entry.kind !== 'read';
    const items = await listed<EntryView>(api, '/audit', { by, kind, target, since }, limit, keep);
    // Only the table has a column for the outcome.
    const tasks = !cli.json && items.some(isInstruction) ? await resolvedTasks(api, target) : [];
    const rows = items.map((entry) => {
      const { at, by: person, action, kind: what, target: to, reason } = entry;
      return [at, person, action, what, to, outcomeOf(entry, tasks), reason ?? ''].map((each) => printable(each));
    });
    const headings = ['at', 'by', 'did', 'to', '', 'outcome', 'reason'];
    cli.print({ items }, () => (rows.length > 0 ? table(headings, rows, cli.paint) : ''));
    if (!cli.json && items.length === 0)
      cli.terminal.say(
        showsReads ? 'The audit has no such entries.' : 'The audit has no such entries. With --reads it lists reads of orders, too.',
      );
  },
};

const isInstruction = ({ kind }: EntryView): boolean => kind === 'instruction' || kind === 'task';

/** The most resolved tasks that are read for the outcomes of instructions. */
const tasksMax = 200;

const resolvedTasks = (api: Api, target: string | undefined): Promise<readonly TaskView[]> =>
  listed<TaskView>(api, '/tasks', { state: 'resolved', ...(target?.startsWith('ord_') ? { orderId: target } : {}) }, tasksMax);

/** The longest time between the entry of the audit and the resolution of the task, if both record the same instruction. */
const sameMs = 10_000;

/** Returns whether an instruction has helped, according to the task that it has resolved; empty without such a task. */
function outcomeOf({ target, by, action, at }: EntryView, tasks: readonly TaskView[]): string {
  const task = tasks.find(({ id, orderId, resolution }) => {
    if (!resolution || resolution.by !== by || Math.abs(timeOf(resolution.at) - timeOf(at)) > sameMs) return false;
    return target === id || (target === orderId && resolution.instruction?.kind === action);
  });
  return task?.verified === undefined ? '' : (verdictWords[task.verified] ?? task.verified);
}
