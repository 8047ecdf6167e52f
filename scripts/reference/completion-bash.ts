import { GENERATED, isNothing, type Offered, type OfferedCommand, shellQuoted } from './completion-model.ts';

/** The completion script for bash 3.2 and later, with or without the bash-completion package. */
export function bashCompletion(model: readonly OfferedCommand[]): string {
  return `# bash completion for filings
# ${GENERATED}

_filings() {
  local at='' word option='' rest='' number=1 prefix='' lead='' current i IFS=$' \\t\\n'
  local -a line=()
  COMPREPLY=()
  _filings_line
  for ((i = 1; i < \${#line[@]} - 1; i++)); do
    word="\${line[i]}"
    if [[ $option ]]; then option=''; continue; fi
    case "$rest|$at|$word" in
      '|'*'|--') rest=1 ;;
      '|'*'|--'*=*) ;;
      '|'*'|-'?*) _filings_option "$word" ;;
${transitions(model)}
      *) number=$((number + 1)) ;;
    esac
  done
  current="\${line[\${#line[@]} - 1]}"
  if [[ ! $rest && ! $option ]]; then
    case "$current" in
      --*=*) option="\${current%%=*}"; prefix="$option="; current="\${current#*=}" ;;
      -*) _filings_words "$(_filings_flags "$at")"; return ;;
    esac
  fi
  if [[ $option ]]; then _filings_values "$at|$option"; else _filings_arguments "$at|$number"; fi
}

# Joins the words that bash splits at = and :, up to the cursor. lead is the part of the last word that bash does not
# replace.
_filings_line() {
  local left="\${COMP_LINE:0:\${COMP_POINT:-0}}" known text glued last=-1
  known="$left"
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}" glued=''
    if [[ $known ]]; then
      text="\${left#"\${left%%[![:space:]]*}"}"
      if [[ $i -gt 0 && $text && $text == "$left" ]]; then glued=1; fi
      if [[ $text == "$word"* ]]; then left="\${text#"$word"}"; else word="$text" left=''; fi
    elif [[ $i -gt 0 && ( $word == [=:] || \${COMP_WORDS[i - 1]} == [=:] ) ]]; then
      glued=1
    fi
    if [[ ! $glued ]]; then last=$((last + 1)) line[last]=''; fi
    lead="\${line[last]}"
    line[last]+="$word"
    if [[ $glued && ! \${word//[=:@><;|&(]/} ]]; then lead="\${line[last]}"; fi
  done
}

_filings_reply() {
  local reply="$prefix$1"
  if [[ $reply == "$lead"* ]]; then COMPREPLY+=("\${reply:\${#lead}}"); fi
}

_filings_words() {
  for word in $1; do
    if [[ $word == "$current"* ]]; then _filings_reply "$word"; fi
  done
}

# Existing paths. readline quotes them and adds a slash to directories.
_filings_paths() {
  compopt -o filenames 2>/dev/null
  lead="\${lead//\\\\/}"
  while IFS= read -r word; do
    if [[ $word ]]; then _filings_reply "$word"; fi
  done <<<"$(compgen "$1" -- "$current")"
}

# The program asks the service and prints no control characters. The names are quoted here, because readline does not
# escape dollar signs and backquotes in names that are not local files. Words that the shell would expand are not
# completed.
_filings_names() {
  local count=$((\${#line[@]} - 2)) quote='' double='"' single="'" bare="\${current//\\\\?/}" begin="\${current//[\\\\\\'\\"]/}"
  local -a words=("\${line[@]:1:count}")
  if [[ \${words[*]} == *[\\$\\\`]* ]]; then return; fi
  if [[ $current == [\\'\\"]* ]]; then quote="\${current:0:1}"; elif [[ $bare == *[\\'\\"]* ]]; then return; fi
  words=("\${words[@]//[\\\\\\'\\"]/}")
  words=("\${words[@]/#\\~\\//$HOME/}")
  while IFS= read -r word; do
    if [[ ! $word || $word != "$begin"* ]]; then continue; fi
    if [[ $quote == "$single" ]]; then
      word="\${word//$single/$single\\\\$single$single}"
    elif [[ $quote == "$double" ]]; then
      # An exclamation mark cannot be escaped inside double quotes.
      if [[ $word == *!* ]]; then continue; fi
      word="\${word//\\\\/\\\\\\\\}" word="\${word//$double/\\\\$double}" word="\${word//\\$/\\\\\\$}" word="\${word//\\\`/\\\\\\\`}"
    else
      printf -v word %q "$word"
    fi
    _filings_reply "$word"
  done <<<"$({ command filings __complete -- "\${words[@]}" </dev/null; } 2>/dev/null)"
}

_filings_option() {
  local letters="\${1#-}"
  if [[ $letters == -* ]]; then
    if _filings_takes_value "$at|$1"; then option="$1"; fi
    return
  fi
  # In a word of short options, the value of an option follows its letter.
  while [[ $letters ]]; do
    if _filings_takes_value "$at|-\${letters:0:1}"; then
      if [[ \${#letters} == 1 ]]; then option="-$letters"; fi
      return
    fi
    letters="\${letters:1}"
  done
}

_filings_flags() {
  case "$1" in
${model.map(flagsCase).join('')}  esac
}

_filings_takes_value() {
  case "$1" in
${valued(model)}
  esac
  return 1
}

_filings_values() {
  case "$1" in
${values(model)}
  esac
}

_filings_arguments() {
  case "$1" in
${model.flatMap(argumentCases).join('\n')}
  esac
}

complete -F _filings filings
`;
}

/** Maps a command and a word to the command below it. */
function transitions(model: readonly OfferedCommand[]): string {
  return model
    .filter(({ path }) => path !== '')
    .map(({ path }) => {
      const words = path.split(' ');
      const parent = words.slice(0, -1).join(' ');
      return `      ${shellQuoted(`|${parent}|${words.at(-1)}`)}) at=${shellQuoted(path)} ;;`;
    })
    .join('\n');
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
      options.flatMap((option) =>
        isNothing(option)
          ? []
          : [`    ${option.flags.map((flag) => pattern(path, flag)).join(' | ')}) ${action(option)} ;;`],
      ),
    )
    .join('\n');
}

function argumentCases({ path, children, arguments: list }: OfferedCommand): readonly string[] {
  const commands = children.map(({ name }) => name).join(' ');
  const first = commands === '' ? [] : [`    ${shellQuoted(`${path}|1`)}) _filings_words ${shellQuoted(commands)} ;;`];
  const rest = list.flatMap(({ number, variadic, ...any }) =>
    isNothing(any) ? [] : [`    ${shellQuoted(`${path}|`)}${variadic ? '*' : number}) ${action(any)} ;;`],
  );
  return [...first, ...rest];
}

function action({ words, completes }: Offered): string {
  switch (completes) {
    case 'file':
      return '_filings_paths -f';
    case 'directory':
      return '_filings_paths -d';
    case 'name':
      return '_filings_names';
    default:
      return `_filings_words ${shellQuoted(words.join(' '))}`;
  }
}

function pattern(path: string, word: string): string {
  return shellQuoted(`${path}|${word}`);
}
