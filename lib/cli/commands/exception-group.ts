import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { spanOption, textOption } from '#cli/options';
import { printable } from '#cli/text';

interface Options {
  readonly mute?: number;
  readonly unmute?: true;
  readonly note?: string;
  readonly ticket?: string;
  readonly reason?: string;
}

interface NoteView {
  readonly fingerprint: string;
  readonly mutedUntil: string | null;
  readonly note: string | null;
  readonly ticket: string | null;
}

/** Mutes alike exceptions for a while, or notes what people know about them. */
export const exceptionGroup: CliCommand<Options> = {
  name: 'exception group',
  summary: 'Mute alike exceptions, or note a text and a ticket',
  declare: (command) =>
    command
      .argument('<fingerprint>', 'fingerprint of the exceptions: exception groups shows it')
      .option('--mute <span>', 'send nobody messages about these exceptions for this time: 2h, 3d', spanOption)
      .option('--unmute', 'send people messages about these exceptions again')
      .option('--note <text>', 'what people should know; "" removes it')
      .option('--ticket <url>', 'the address of a ticket; "" removes it')
      .option('--reason <text>', 'why; kept in the audit', textOption),

  async run(cli, { mute, unmute, note, ticket, reason }, [fingerprint = '']) {
    if (mute !== undefined && unmute) throw new UsageError('Give --mute or --unmute, not both.');
    const change = {
      ...(mute === undefined ? {} : { mutedUntil: new Date(Date.now() + mute).toISOString() }),
      ...(unmute ? { mutedUntil: null } : {}),
      ...(note === undefined ? {} : { note: note === '' ? null : note }),
      ...(ticket === undefined ? {} : { ticket: ticket === '' ? null : ticket }),
    };
    if (Object.keys(change).length === 0) throw new UsageError('Give at least one of --mute, --unmute, --note and --ticket.');
    const body = { ...change, ...(reason === undefined ? {} : { reason }) };
    const path = `/exceptions/groups/${encodeURIComponent(fingerprint)}`;
    const { body: noted } = await (await cli.api('operator')).call<NoteView>('PATCH', path, { body });
    cli.print(noted, () => `${linesOf(noted).map(printable).join('\n')}\n`);
  },
};

const linesOf = ({ fingerprint, mutedUntil, note, ticket }: NoteView): readonly string[] => [
  `exceptions ${fingerprint}`,
  `  muted until   ${mutedUntil ?? 'not muted'}`,
  `  note          ${note ?? 'none'}`,
  `  ticket        ${ticket ?? 'none'}`,
];
