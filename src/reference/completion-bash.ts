import type { OfferedCommand } from './completion-model.ts';
import { GENERATED, shellQuoted } from './completion-model.ts';

/**
 * The completion script of bash, 3.2 and later, without the bash-completion package.
 * Bash splits words at `=` and `:`, so `--color=a` arrives as three.
 */
export function bashCompletion(model: readonly OfferedCommand[]): string {
  return `# bash completion for filings
# ${GENERATED}

_filings() {
  local at='' word option='' rest='' current="\${COMP_WORDS[COMP_CWORD]}" IFS=$' \\t\\n' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ $rest || $word == = ]]; then continue; fi
    if [[ $option ]]; then option=''; continue; fi
    case "$at|$word" in
      *'|--') rest=1 ;;
${transitions(model)}
      *) if _filings_takes_value "$at" "$word"; then option="$word"; fi ;;
    esac
  done
  if [[ $current == = ]]; then current=''; fi
  if [[ $option ]]; then _filings_values "$at" "$option"; return; fi
  if [[ $current == -* && ! $rest ]]; then _filings_words "$(_filings_flags "$at")"; return; fi
  case "$at" in
${model.map(argumentsCase).join('')}  esac
}

_filings_words() {
  COMPREPLY=($(compgen -W "$1" -- "$current"))
}

_filings_paths() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$current"))
}

_filings_flags() {
  case "$1" in
${model.map(flagsCase).join('')}  esac
}

_filings_takes_value() {
  case "$1|$2" in
${valued(model)}
  esac
  return 1
}

_filings_values() {
  case "$1|$2" in
${values(model)}
  esac
}

complete -F _filings filings
`;
}

/** From the place so far and a word to the next place. */
function transitions(model: readonly OfferedCommand[]): string {
  return model
    .filter(({ path }) => path !== '')
    .map(({ path }) => {
      const words = path.split(' ');
      const parent = words.slice(0, -1).join(' ');
      return `      ${pattern(parent, words.at(-1) ?? '')}) at=${shellQuoted(path)} ;;`;
    })
    .join('\n');
}

function argumentsCase({ path, children, choices, completes }: OfferedCommand): string {
  const words = [...children.map(({ name }) => name), ...choices];
  const paths = completes === undefined ? '' : `_filings_paths ${letter(completes)}`;
  const action = words.length > 0 ? `_filings_words ${shellQuoted(words.join(' '))}` : paths;
  return action === '' ? '' : `    ${shellQuoted(path)}) ${action} ;;\n`;
}

function flagsCase({ path, options }: OfferedCommand): string {
  return `    ${shellQuoted(path)}) echo ${shellQuoted(options.map(({ flags }) => flags.at(-1)).join(' '))} ;;\n`;
}

function valued(model: readonly OfferedCommand[]): string {
  return model
    .map(({ path, options }) => {
      const flags = options.filter(({ value }) => value !== undefined).flatMap((option) => option.flags);
      return `    ${flags.map((flag) => pattern(path, flag)).join(' | ')}) return 0 ;;`;
    })
    .join('\n');
}

function values(model: readonly OfferedCommand[]): string {
  return model
    .flatMap(({ path, options }) =>
      options.flatMap(({ flags, choices, completes }) => {
        const words = choices.length > 0 ? `_filings_words ${shellQuoted(choices.join(' '))}` : '';
        const action = completes === undefined ? words : `_filings_paths ${letter(completes)}`;
        return action === '' ? [] : [`    ${flags.map((flag) => pattern(path, flag)).join(' | ')}) ${action} ;;`];
      }),
    )
    .join('\n');
}

function pattern(path: string, word: string): string {
  return shellQuoted(`${path}|${word}`);
}

function letter(completes: 'file' | 'directory'): string {
  return completes === 'file' ? '-f' : '-d';
}
