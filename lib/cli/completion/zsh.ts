import { optionsWithValue, type Place, quoted, type Word } from './words.ts';

/** Returns the completion script for zsh: to source, or as the file `_redress` in a folder of `fpath`. */
export const zshScript = (places: readonly Place[]): string => `#compdef redress
# To load it: source <(redress completion zsh)
_redress() {
  local place= word skip=
  local -a commands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $skip ]]; then skip=; continue; fi
    case $word in
      (${optionsWithValue(places).join('|')}) skip=1 ;;
      (-*) ;;
      (*) case "\${place:+$place }$word" in
            (${places.flatMap(({ after }) => (after === '' ? [] : [quoted(after)])).join('|')}) place="\${place:+$place }$word" ;;
          esac ;;
    esac
  done
  case $place in
${places.map(branchOf).join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then _describe -o option options
  elif (( $#commands )); then _describe command commands
  else _files
  fi
}
if [[ $funcstack[1] == _redress ]]; then _redress "$@"; else compdef _redress redress; fi
`;

const branchOf = ({ after, commands, options }: Place): string =>
  `    (${quoted(after)}) commands=(${commands.map(described).join(' ')}); options=(${options.map(described).join(' ')}) ;;`;

const described = ({ name, about }: Word): string => quoted(`${name.replaceAll(':', '\\:')}:${about}`);
