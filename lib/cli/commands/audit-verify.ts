import type { CliCommand } from '#cli/command';
import { textOption } from '#cli/options';
import { listed } from '#cli/orders';
import { printable, table } from '#cli/text';

interface DayView {
  readonly day: string;
  readonly entries: number;
  readonly hash: string;
  readonly misfits: readonly { readonly entry: string | null; readonly problem: string }[];
}

/**
 * Compares the audit with its digests. If an entry was changed after the end of its day, the command names the entry and ends with exit
 * code 1.
 */
export const auditVerify: CliCommand<{ expect?: string }> = {
  name: 'audit verify',
  summary: 'Compare the audit with its daily digests',
  declare: (command) =>
    command.option('--expect <hash>', 'a digest that must be among the daily digests, such as one from the log', textOption),

  async run(cli, { expect }) {
    const days = await listed<DayView>(await cli.api('operator'), '/audit/days');
    const misfits = days.flatMap((day) => day.misfits.map((misfit) => ({ day: day.day, ...misfit })));
    const isMissing = expect !== undefined && days.every(({ hash }) => hash !== expect);
    const entries = days.reduce((count, day) => count + day.entries, 0);
    const [from, until] = [days[0], days.at(-1)];
    cli.print(
      {
        ...{ fits: misfits.length === 0 && !isMissing, days: days.length, entries, from: from?.day ?? null, until: until?.day ?? null },
        ...{ hash: until?.hash ?? null, misfits },
      },
      () => {
        if (!until) return 'The audit has no digest yet: the first one is written an hour after the end of its first day.\n';
        const rows = misfits.map(({ day, entry, problem }) => [day, problem, printable(entry ?? '')]);
        const summary = `${entries} entries of ${days.length} days, from ${from?.day} to ${until.day}. Last digest: ${until.hash}`;
        return [
          ...(rows.length > 0 ? [table(['day', 'problem', 'entry'], rows, cli.paint)] : []),
          ...(isMissing ? [`The digest ${printable(expect)} is not among the daily digests.\n`] : []),
          `${misfits.length === 0 && !isMissing ? 'The audit fits its digests' : 'The audit does not fit its digests'}: ${summary}\n`,
        ].join('');
      },
    );
    return misfits.length > 0 || isMissing ? 1 : undefined;
  },
};
