import { Option } from 'commander';
import { clientIdPattern, type Role, roles } from '#api/authentication';
import { openLocalIssuer } from '#api/local-issuer';
import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { spanOption } from '#cli/options';

const twelveHoursMs = 43_200_000;

/** Prints a token that the system of this data folder believes. */
export const token: CliCommand<{ role: Role; client?: string; expires: number; subject?: string }> = {
  name: 'token',
  summary: "prints a token signed with the data folder's key",
  declare: (command) =>
    command
      .addOption(new Option('--role <role>', 'what its bearer may do').choices(roles).makeOptionMandatory())
      .option('--client <id>', 'the client in whose name orders are submitted; for the role client')
      .option('--subject <name>', 'who it is, for the history (the client or the role)')
      .option('--expires <span>', 'how long it is good: 30s, 15m, 12h, 7d', spanOption, twelveHoursMs),

  async run(cli, { role, client, expires, subject }) {
    if (role === 'client' && client === undefined) throw new UsageError('A token of the role client needs a client: --client acme.');
    if (client !== undefined && !clientIdPattern.test(client))
      throw new UsageError('The id of a client has 1 to 128 letters, digits, dots, - or _.');

    const expiresInSeconds = expires / 1000;
    const signed = await openLocalIssuer(cli.dataFolder).sign({
      role,
      expiresInSeconds,
      ...(client === undefined ? {} : { client }),
      ...(subject === undefined ? {} : { subject }),
    });
    const expiresAt = new Date(Date.now() + expires).toISOString();
    cli.print({ token: signed, role, ...(client === undefined ? {} : { client }), expiresAt }, () => `${signed}\n`);
  },
};
