import type { CliCommand } from './command.ts';

/**
 * Returns a function that writes the commands in a message as a person must type them: with `npx` if npm has started this command, because
 * `redress` is then not in the search path.
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
