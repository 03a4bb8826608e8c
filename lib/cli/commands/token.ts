import { InvalidArgumentError, Option } from 'commander';
import { clientIdPattern, isGroupName, type Role, roles } from '#api/authentication';
import { openLocalIssuer } from '#api/local-issuer';
import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { spanOption } from '#cli/options';
import { printable } from '#cli/text';

const twelveHoursMs = 43_200_000;
const lifetimeMsMax = 7 * 86_400_000;

/** Prints a token that the system of this data folder accepts. */
export const token: CliCommand<{ role: Role; client?: string; expires: number; subject?: string; groups?: readonly string[] }> = {
  name: 'token',
  summary: "Print a token signed with the folder's key",
  declare: (command) =>
    command
      .addOption(new Option('--role <role>', 'role of the bearer').choices(roles).makeOptionMandatory())
      .option('--client <id>', 'client to submit orders as; required for the role client')
      .option('--subject <name>', 'name of the bearer in histories; default: the client or the role')
      .addOption(new Option('--groups <names>', 'groups of the bearer, separated by commas: claims,night-shift').argParser(groupsOption))
      .addOption(
        new Option('--expires <span>', 'lifetime of the token, at most 7d: 30s, 15m, 12h')
          .argParser(spanOption)
          .default(twelveHoursMs, '12h'),
      ),

  async run(cli, { role, client, expires, subject, groups }) {
    if (role === 'client' && client === undefined) throw new UsageError('The role client requires a client id, such as --client acme.');
    if (client !== undefined && !clientIdPattern.test(client))
      throw new UsageError(
        `Invalid client id ${printable(client)}: expected 1 to 128 letters, digits, ".", "_" and "-", but not "." or "..".`,
      );

    if (expires > lifetimeMsMax)
      throw new UsageError(
        'Expected a lifetime of at most 7d: a single token cannot be withdrawn before it expires, only all tokens of a key together. Sign a new one when it expires.',
      );

    const expiresInSeconds = expires / 1000;
    const signed = await openLocalIssuer(cli.dataFolder).sign({
      role,
      expiresInSeconds,
      ...(client === undefined ? {} : { client }),
      ...(subject === undefined ? {} : { subject }),
      ...(groups === undefined ? {} : { groups }),
    });
    const expiresAt = new Date(Date.now() + expires).toISOString();
    cli.print({ token: signed, role, ...(client === undefined ? {} : { client }), expiresAt }, () => `${signed}\n`);
  },
};

function groupsOption(value: string): readonly string[] {
  const groups = [...new Set(value.split(',').map((each) => each.trim()))];
  if (groups.every(isGroupName)) return groups;
  throw new InvalidArgumentError('Expected names of 1 to 64 characters, separated by commas.');
}
