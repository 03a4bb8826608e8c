import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { spanOption, textOption } from '#cli/options';
import { listed } from '#cli/orders';
import { counted, printable, table } from '#cli/text';

interface GroupView {
  readonly name: string;
  readonly rev: number;
  readonly members: readonly string[];
  readonly notify: readonly { readonly kind: string; readonly url?: string; readonly topicArn?: string }[];
  readonly mutedUntil: string | null;
}

interface Options {
  readonly member: readonly string[];
  readonly webhook: readonly string[];
  readonly credential: string;
  readonly topic: readonly string[];
  readonly mute?: number;
  readonly unmute?: true;
  readonly reason: string;
}

/** Writes or replaces a group of people. The API refuses the write if another admin has changed the group meanwhile. */
export const groupPut: CliCommand<Options> = {
  name: 'group put',
  summary: "Replace a group's members and destinations",
  declare: (command) =>
    command
      .argument('<name>', 'the name of the group, as in people.group of a workflow')
      .option('--member <sub...>', 'the people, by the sub of their tokens', [])
      .option('--webhook <url...>', 'addresses that get its messages; NOTIFY_HOSTS must name their hosts', [])
      .option('--credential <name>', 'the credential whose secret signs the messages to these addresses', textOption, 'NOTIFY_SECRET')
      .option('--topic <arn...>', 'topics of SNS that get its messages', [])
      .option('--mute <span>', 'the group gets no message for this time: 2h, 3d', spanOption)
      .option('--unmute', 'the group gets messages again')
      .requiredOption('--reason <text>', 'why; kept with the group', textOption),

  async run(cli, { member, webhook, credential, topic, mute, unmute, reason }, [name = '']) {
    if (mute !== undefined && unmute) throw new UsageError('Give --mute or --unmute, not both.');
    const api = await cli.api('admin');
    const before = (await listed<GroupView>(api, '/groups')).find((group) => group.name === name);
    const notify = [
      ...webhook.map((url) => ({ kind: 'webhook', url, credential })),
      ...topic.map((topicArn) => ({ kind: 'sns', topicArn })),
    ];
    const muted = unmute ? { mutedUntil: null } : mute === undefined ? {} : { mutedUntil: new Date(Date.now() + mute).toISOString() };
    const headers = before ? { 'if-match': `"${before.rev}"` } : {};
    const body = { members: member, notify, ...muted, reason };
    const { body: written } = await api.call<GroupView>('PUT', `/groups/${encodeURIComponent(name)}`, { body, headers });
    cli.print(written, () => '');
    if (!cli.json) cli.terminal.say(`${printable(name)}: ${counted(member.length, 'member')}, ${counted(notify.length, 'destination')}.`);
  },
};

/** Lists the groups of people. */
export const groupList: CliCommand = {
  name: 'group list',
  summary: 'List the groups of people and their destinations',

  async run(cli) {
    const items = await listed<GroupView>(await cli.api('viewer'), '/groups');
    const rows = items.map(({ name, members, notify, mutedUntil }) => [
      name,
      members.join(', '),
      notify.map(({ url, topicArn, kind }) => url ?? topicArn ?? kind).join(', ') || 'as the deployment says',
      mutedUntil ?? '',
    ]);
    cli.print({ items }, () => (rows.length > 0 ? table(['group', 'members', 'hears at', 'muted until'], rows, cli.paint) : ''));
    if (!cli.json && items.length === 0) cli.terminal.say('There are no groups: all tasks go where the deployment says.');
  },
};
