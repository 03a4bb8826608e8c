import { optionsWithValue, type Place, quoted } from './words.ts';

/** Returns the completion script for bash. */
export const bashScript = (places: readonly Place[]): string => `# To load it: source <(redress completion bash)
_redress() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place= word skip= commands= options=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [ -n "$skip" ]; then skip=; continue; fi
    case "$word" in
      ${optionsWithValue(places).join('|')}) skip=1 ;;
      -*) ;;
      *) case "\${place:+$place }$word" in
           ${places.flatMap(({ after }) => (after === '' ? [] : [quoted(after)])).join('|')}) place="\${place:+$place }$word" ;;
         esac ;;
    esac
  done
  case "$place" in
${places.map(branchOf).join('\n')}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) COMPREPLY=($(compgen -W "$commands" -- "$current")) ;;
  esac
}
complete -o default -F _redress redress
`;

const branchOf = ({ after, commands, options }: Place): string =>
  `    ${quoted(after)}) commands=${quoted(namesOf(commands))}; options=${quoted(namesOf(options))} ;;`;

const namesOf = (words: readonly { readonly name: string }[]): string => words.map(({ name }) => name).join(' ');
