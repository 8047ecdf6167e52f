import {
  GENERATED,
  isNothing,
  type Offered,
  type OfferedCommand,
  type OfferedOption,
  shellQuoted,
} from './completion-model.ts';

/** The completion script for zsh, with one `_arguments` function per command. It can be sourced or found in fpath. */
export function zshCompletion(model: readonly OfferedCommand[]): string {
  return `#compdef filings
# ${GENERATED}

# The program asks the service and prints no control characters. Words that the shell would expand are not completed.
_filings_names() {
  [[ "\${filings_line[2,filings_current - 1]}" == *[\\$\\\`]* ]] && return 1
  local text
  local -a words found expl
  words=("\${(@Q)filings_line[2,filings_current - 1]}")
  text="$({ command filings __complete -- "\${(@)words/#\\~\\//$HOME/}" </dev/null; } 2>/dev/null)"
  [[ -n $text ]] || return 1
  found=("\${(@f)text}")
  _wanted filings expl 'file of the filing' compadd -a found
}

${model.map((command) => functionOf(command)).join('\n')}
if [[ $funcstack[1] == _filings ]]; then
  _filings "$@"
else
  compdef _filings filings
fi
`;
}

function functionOf(command: OfferedCommand): string {
  const options = command.options.map((option) => `    ${optionSpec(option)} \\\n`).join('');
  // _arguments removes the words before a command, but the program needs the whole line.
  const whole = '  local -a filings_line=("$words[@]")\n  local -i filings_current=$CURRENT\n';
  const body = command.children.length > 0 ? groupBody(command, options) : leafBody(command, options);
  return `${nameOf(command.path)}() {\n${command.path === '' ? whole : ''}${body}}\n`;
}

function leafBody({ arguments: list }: OfferedCommand, options: string): string {
  const specs = list.map(
    ({ name, number, variadic, ...any }) => `${variadic ? '*' : number}:${escaped(name)}:${action(any)}`,
  );
  const lines = specs.map((spec) => ` \\\n    ${shellQuoted(spec)}`);
  return `  _arguments -s -S \\\n${options.replace(/ \\\n$/, '')}${lines.join('')}\n`;
}

function groupBody({ path, children }: OfferedCommand, options: string): string {
  const described = children.map(({ name, summary }) => `    ${shellQuoted(`${escaped(name)}:${summary}`)}\n`).join('');
  const cases = children
    .map(({ name }) => `        ${name}) ${nameOf(path === '' ? name : `${path} ${name}`)} ;;\n`)
    .join('');
  return `  local curcontext="$curcontext" state line
  local -a commands
  commands=(
${described}  )
  _arguments -s -S -C \\
${options}    '1:command:->command' \\
    '*::argument:->argument' && return
  case $state in
    command) _describe -t commands command commands ;;
    argument)
      case $line[1] in
${cases}      esac
      ;;
  esac
`;
}

function nameOf(path: string): string {
  return path === '' ? '_filings' : `_filings_${path.replace(/[ -]/g, '_')}`;
}

/** An option for `_arguments`, such as `'(-j --jobs)'{-j,--jobs=}'[text]:N:'`. */
function optionSpec({ flags, text, value, repeatable, ...offered }: OfferedOption): string {
  const [first = '', long] = flags;
  const after = shellQuoted(`[${escaped(text)}]${value === undefined ? '' : `:${escaped(value)}:${action(offered)}`}`);
  const mark = value === undefined ? '' : '=';
  const before = repeatable ? '*' : `(${flags.join(' ')})`;
  if (long === undefined) return `${shellQuoted(`${before}${first}${mark}`)}${after}`;
  // The value of a short flag may follow it without a blank.
  return `${shellQuoted(before)}{${first}${value === undefined ? '' : '+'},${long}${mark}}${after}`;
}

function action(offered: Offered): string {
  switch (offered.completes) {
    case 'file':
      return '_files';
    case 'directory':
      return '_files -/';
    case 'name':
      return '_filings_names';
    default:
      return isNothing(offered) ? ' ' : `(${offered.words.join(' ')})`;
  }
}

function escaped(text: string): string {
  return text.replace(/[\\[\]:]/g, '\\$&');
}
