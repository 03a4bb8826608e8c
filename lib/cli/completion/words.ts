import type { Command } from 'commander';

/** A word that may come next, and what it is about. */
export interface Word {
  readonly name: string;
  readonly about: string;
}

/** A position in the command line: the words before it, and the words that may come next. */
export interface Place {
  /** Empty, `order`, or `order list`. */
  readonly after: string;
  readonly commands: readonly Word[];
  readonly options: readonly (Word & { readonly takesValue: boolean })[];
}

/** Returns every place of a program, with the names of its commands, their other names and their options. */
export function placesOf(program: Command, after: readonly string[] = []): readonly Place[] {
  const commands = program.commands.flatMap((command) =>
    [command.name(), ...command.aliases()].map((name) => ({ name, about: command.summary() })),
  );
  const options = [...program.options, ...ancestorsOf(program).flatMap((each) => each.options)].flatMap(
    ({ long, description, required, optional }) => (long ? [{ name: long, about: description, takesValue: required || optional }] : []),
  );
  const shown = [
    ...options.filter(({ name }) => name !== '--version' || after.length === 0),
    { name: '--help', about: 'print this help', takesValue: false },
  ];
  const place = {
    after: after.join(' '),
    commands,
    options: shown.filter(({ name }, index) => shown.findIndex((each) => each.name === name) === index),
  };
  const below = program.commands.flatMap((command) =>
    [command.name(), ...command.aliases()].flatMap((name) => placesOf(command, [...after, name])),
  );
  return [place, ...below];
}

const ancestorsOf = ({ parent }: Command): readonly Command[] => (parent ? [parent, ...ancestorsOf(parent)] : []);

/** Returns the options of every command that take the next word as their value. */
export const optionsWithValue = (places: readonly Place[]): readonly string[] =>
  places.flatMap(({ after, options }) => (after === '' ? options.filter(({ takesValue }) => takesValue).map(({ name }) => name) : []));

/** Quotes a text for a shell of the Bourne family. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
