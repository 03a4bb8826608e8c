import type { Cli, CliCommand } from '#cli/command';
import { examineAll, type Finding } from '#cli/doctor/index';
import { printable } from '#cli/text';

const colours = { ok: 'green', warning: 'yellow', failed: 'red', skipped: 'dim' } as const;

/** Examines the machine, the system and its work, and says what to do about each finding. */
export const doctor: CliCommand = {
  name: 'doctor',
  summary: 'Examine Node, keys, store, system, token, channels and tasks, with a remedy for each finding',
  declare: (command) =>
    command.addHelpText(
      'after',
      '\nThis command changes nothing. Exit codes: 0 if each check passes or only warns, 1 if a check fails, 3 if the system does not answer.',
    ),

  async run(cli) {
    const items = await examineAll(cli);
    cli.print({ items }, () => textOf(items, cli));
    const failures = items.filter(({ state }) => state === 'failed');
    if (failures.length === 0) return undefined;
    return failures.some(({ what }) => what === 'system') ? 3 : 1;
  },
};

function textOf(findings: readonly Finding[], { paint, typed }: Pick<Cli, 'paint' | 'typed'>): string {
  const width = Math.max(...findings.map(({ what }) => what.length));
  return findings
    .flatMap(({ state, what, detail, remedy }) => [
      `${paint(colours[state], state.padEnd(7))}  ${what.padEnd(width)}  ${printable(detail)}`,
      ...(remedy === undefined ? [] : [`${''.padEnd(width + 11)}${printable(typed(remedy))}`]),
    ])
    .map((line) => `${line}\n`)
    .join('');
}
