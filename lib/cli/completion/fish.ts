import { optionsWithValue, type Place } from './words.ts';

/** Returns the completion script for fish. */
export const fishScript = (places: readonly Place[]): string => `# To load it: redress completion fish | source
function __redress_at
    set -l place ''
    set -l skip ''
    for word in (commandline -opc)[2..]
        if test -n "$skip"
            set skip ''
            continue
        end
        switch $word
            case ${optionsWithValue(places).join(' ')}
                set skip 1
            case '-*'
            case '*'
                set -l next (string trim -- "$place $word")
                contains -- $next ${places.flatMap(({ after }) => (after === '' ? [] : [quoted(after)])).join(' ')}; and set place $next
        end
    end
    test "$place" = "$argv[1]"
end
${places.flatMap(linesOf).join('\n')}
`;

const linesOf = ({ after, commands, options }: Place): readonly string[] => {
  const here = `complete -c redress -n ${quoted(`__redress_at ${quoted(after)}`)}`;
  return [
    ...commands.map(({ name, about }) => `${here} -f -a ${quoted(name)} -d ${quoted(about)}`),
    ...options.map(({ name, about, takesValue }) => `${here} -l ${name.slice(2)}${takesValue ? ' -r' : ''} -d ${quoted(about)}`),
  ];
};

/** Quotes a text for fish. */
const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
