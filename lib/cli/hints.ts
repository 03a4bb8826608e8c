import type { CliCommand } from './command.ts';
import type { Terminal } from './terminal.ts';

/**
 * Returns a terminal whose messages name commands as the person has typed this one: `npx redress` if npm has started the program, which is
 * then in no search path.
 */
export function withTypedHints(
  terminal: Terminal,
  commands: readonly Pick<CliCommand, 'name'>[],
  environment: { readonly [name: string]: string | undefined },
): Terminal {
  if (!environment['npm_execpath']) return terminal;
  const first = [...new Set(commands.map(({ name }) => name.split(' ')[0]))].join('|');
  const hints = new RegExp(`(?<!npx )\\bredress (?=(?:${first})\\b)`, 'g');
  return { ...terminal, say: (line) => terminal.say(line.replaceAll(hints, 'npx redress ')) };
}
