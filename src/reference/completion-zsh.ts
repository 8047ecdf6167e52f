import {
  GENERATED,
  isNothing,
  type Offered,
  type OfferedArgument,
  type OfferedCommand,
  type OfferedOption,
  shellQuoted,
} from './completion-model.ts';

/** The completion script of zsh: one function a command, made of `_arguments`. It may be sourced, or found in fpath. */
export function zshCompletion(model: readonly OfferedCommand[]): string {
  return `#compdef filings
# ${GENERATED}

# The program knows what the line says, and tells nothing that a terminal would act on.
_filings_ask() {
  local text
  text="$({ command filings completion $1 zsh -- "\${(@)filings_line[2,filings_current - 1]}" '' </dev/null; } 2>/dev/null)"
  [[ -n $text ]] || return 1
  local -a found expl
  found=("\${(@f)text}")
  _wanted filings expl "$2" compadd -a found
}

_filings_names() { _filings_ask --names 'file of the filing'; }
_filings_profiles() { _filings_ask --profiles profile; }

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
  // _arguments takes away what stands before a command: the program is asked about the whole line.
  const whole = '  local -a filings_line=("$words[@]")\n  local -i filings_current=$CURRENT\n';
  const body = command.children.length > 0 ? groupBody(command, options) : leafBody(command, options);
  return `${nameOf(command.path)}() {\n${command.path === '' ? whole : ''}${body}}\n`;
}

function leafBody({ arguments: list }: OfferedCommand, options: string): string {
  const behind = list.filter(({ after }) => after.length > 0);
  const specs = list.flatMap(argumentSpecs).map((spec) => ` \\\n    ${shellQuoted(spec)}`);
  const wanted = `_arguments -s -S${behind.length > 0 ? ' -C' : ''} \\\n${options.replace(/ \\\n$/, '')}${specs.join('')}`;
  if (behind.length === 0) return `  ${wanted}\n`;
  return `  local curcontext="$curcontext" state
  local -a line
  ${wanted} && return
  case "$state|$line[1]" in
${behind.flatMap(behindCases).join('')}  esac
`;
}

function argumentSpecs({ name, number, variadic, after, ...any }: OfferedArgument): readonly string[] {
  const what = escaped(name);
  if (after.length === 0) return [`${variadic ? '*' : `${number}`}:${what}:${action(any)}`];
  // The first of them has nothing before it.
  const first = variadic ? [`${number}:${what}:${action(any)}`] : [];
  return [...first, `${variadic ? '*' : number}:${what}:->${what}`];
}

function behindCases({ name, after }: OfferedArgument): readonly string[] {
  return after.map(({ before, words, completes }) => {
    const patterns = before.map((word) => shellQuoted(`${name}|${word}`)).join(' | ');
    const tag = shellQuoted(name.toLowerCase());
    const done =
      completes === undefined
        ? `_wanted ${tag} expl ${tag} compadd -- ${words.join(' ')}`
        : action({ words, completes });
    return `    ${patterns}) ${done} ;;\n`;
  });
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

/** `'(-j --jobs)'{-j,--jobs=}'[text]:N:'`. */
function optionSpec({ flags, text, value, repeatable, ...offered }: OfferedOption): string {
  const [first = '', long] = flags;
  const after = shellQuoted(`[${escaped(text)}]${value === undefined ? '' : `:${escaped(value)}:${action(offered)}`}`);
  const mark = value === undefined ? '' : '=';
  const before = repeatable ? '*' : `(${flags.join(' ')})`;
  if (long === undefined) return `${shellQuoted(`${before}${first}${mark}`)}${after}`;
  // A short flag's value may stand right behind it.
  return `${shellQuoted(before)}{${first}${value === undefined ? '' : '+'},${long}${mark}}${after}`;
}

function action(offered: Offered): string {
  switch (offered.completes) {
    case 'file':
      return '_files';
    case 'directory':
      return '_files -/';
    case 'profile':
      return '_filings_profiles';
    case 'name':
      return '_filings_names';
    default:
      return isNothing(offered) ? ' ' : `(${offered.words.join(' ')})`;
  }
}

function escaped(text: string): string {
  return text.replace(/[\\[\]:]/g, '\\$&');
}
