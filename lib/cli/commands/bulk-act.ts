import { type BulkView, bulkPath, bulkText, nextStep } from '#cli/bulk';
import type { CliCommand } from '#cli/command';
import { textOption } from '#cli/options';
import { printable } from '#cli/text';

const acting = (action: string, summary: string): CliCommand<{ reason: string }> => ({
  name: `bulk ${action}`,
  summary,
  declare: (command) =>
    command.argument('<id>', 'bulk run: bulk list shows them').requiredOption('--reason <text>', `why you ${action} it`, textOption),

  async run(cli, { reason }, [id = '']) {
    const api = await cli.api('operator');
    const { body } = await api.call<BulkView>('POST', `${bulkPath(id)}/${action}`, { body: { reason } });
    cli.print(body, () => bulkText(body));
    if (!cli.json) cli.terminal.say(nextStep(body) ?? `To follow it: redress bulk watch ${printable(id)}`);
    return undefined;
  },
});

export const bulkStart = acting('start', 'Start a bulk run that is ready');
export const bulkPause = acting('pause', 'Pause a bulk run');
export const bulkResume = acting('resume', 'Go on with a paused bulk run');
export const bulkStop = acting('stop', 'Stop a bulk run for good');
