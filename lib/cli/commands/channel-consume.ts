import type { CliCommand } from '#cli/command';
import { secondsOption } from '#cli/options';
import { printable } from '#cli/text';
import { importApp } from '#runtime/app-module';

/** Handles the messages of one consumer of an app until none is left. */
export const channelConsume: CliCommand<{ idle: number }> = {
  name: 'channel consume',
  summary: 'Handle the messages of a consumer until none is left',
  declare: (command) =>
    command
      .argument('<app>', 'module with an app from defineApp as default export')
      .argument('<consumer>', 'consumer of the app: expenses')
      .option('--idle <seconds>', 'the command ends after this time without a message', secondsOption, 0.5),

  async run(cli, { idle }, [path = '', consumer = '']) {
    const app = await importApp(path);
    // Imported here, because other commands start faster without the host.
    const { consumeUntilIdle } = await import('#runtime/host/consume');
    const config = { ...cli.config, dataFolder: cli.dataFolder };
    const consumed = await consumeUntilIdle({ app, consumer, config, environment: process.env, idleMs: idle * 1000 });
    cli.print(consumed, () => '');
    const name = printable(consumer);
    const end = consumed.ended === 'idle' ? `${name} has no message left.` : `${name} is closed. To open it: redress channel open ${name}`;
    cli.terminal.say(`new dead letters: ${consumed.deadLetters}. ${end}`);
    return consumed.ended === 'idle' ? undefined : 1;
  },
};
