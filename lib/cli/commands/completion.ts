import { Argument } from 'commander';
import type { CliCommand } from '#cli/command';
import { bashScript } from '#cli/completion/bash';
import { fishScript } from '#cli/completion/fish';
import { type Place, placesOf } from '#cli/completion/words';
import { zshScript } from '#cli/completion/zsh';
import { programOf } from '#cli/program';

const scripts: { readonly [shell: string]: (places: readonly Place[]) => string } = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Prints the script with which a shell completes the commands of the table. `commands` returns that table. */
export const completionOf = (commands: () => readonly CliCommand[]): CliCommand => ({
  name: 'completion',
  summary: 'Print a script with which a shell completes commands and options',
  declare: (command) =>
    command
      .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
      .addHelpText(
        'after',
        '\nbash: source <(redress completion bash)\nzsh:  source <(redress completion zsh)\nfish: redress completion fish | source',
      ),

  async run(cli, _, [shell = '']) {
    const places = placesOf(programOf(commands(), cli.terminal, async () => undefined));
    const script = scripts[shell]?.(places) ?? '';
    cli.print({ shell, script }, () => script);
    return undefined;
  },
});
