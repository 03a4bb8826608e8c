import type { Cli } from './command.ts';
import { printable } from './text.ts';

/** The longest command that a hint repeats, in characters. */
const charactersMax = 1000;

/**
 * Returns a hint at the command that does what a dry run has shown: the typed command without `--dry-run`, but with a reason. The hint adds
 * `--yes` if the instruction cannot be taken back (`isFinal`) and nobody can be asked.
 */
export function carryOutHint({ args, terminal }: Pick<Cli, 'args' | 'terminal'>, isFinal: boolean): string {
  const has = (option: string) => args.some((word) => word === option || word.startsWith(`${option}=`));
  const words = [
    'redress',
    ...withoutToken(args.filter((word) => word !== '--dry-run')).map(quoted),
    ...(has('--reason') ? [] : ["--reason '…'"]),
    ...(isFinal && !terminal.canAsk && !has('--yes') ? ['--yes'] : []),
  ];
  const command = words.join(' ');
  const repeats = command.length <= charactersMax && command === printable(command);
  return repeats ? `To carry it out: ${command}` : 'To carry it out: the same command with --reason, and without --dry-run.';
}

/** Replaces the value of `--token`, which must not stand in a log. */
const withoutToken = (args: readonly string[]): readonly string[] =>
  args.map((word, index) => (args[index - 1] === '--token' ? 'TOKEN' : word.startsWith('--token=') ? '--token=TOKEN' : word));

/** Quotes a word for a shell. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
