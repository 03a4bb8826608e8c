import type { CliCommand } from './command.ts';

/**
 * Returns the function that names commands in a message as the person has typed this one: `npx redress` if npm has started the program,
 * which is then in no search path.
 */
export function typedHints(
  commands: readonly Pick<CliCommand, 'name'>[],
  environment: { readonly [name: string]: string | undefined },
): (message: string) => string {
  if (!environment['npm_execpath']) return (message) => message;
  const first = [...new Set(commands.map(({ name }) => name.split(' ')[0]))].join('|');
  const hints = new RegExp(`(?<!npx )\\bredress (?=(?:${first})\\b)`, 'g');
  return (message) => message.replaceAll(hints, 'npx redress ');
}
