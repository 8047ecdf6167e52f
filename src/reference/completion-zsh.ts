import type { OfferedCommand, OfferedOption } from './completion-model.ts';
import { GENERATED, shellQuoted } from './completion-model.ts';

/** The completion script of zsh: one function a command, made of `_arguments`. */
export function zshCompletion(model: readonly OfferedCommand[]): string {
  return `#compdef filings
# ${GENERATED}

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
  const body = command.children.length > 0 ? groupBody(command, options) : leafBody(command, options);
  return `${nameOf(command.path)}() {\n${body}}\n`;
}

function leafBody({ argument, choices, completes }: OfferedCommand, options: string): string {
  const action = completes === undefined ? listed(choices) : pathsOf(completes);
  const rest = argument === undefined ? '' : ` \\\n    ${shellQuoted(`*:${escaped(argument.name)}:${action}`)}`;
  return `  _arguments -s -S \\\n${options.replace(/ \\\n$/, '')}${rest}\n`;
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
function optionSpec({ flags, text, value, choices, completes, repeatable }: OfferedOption): string {
  const [first = '', long] = flags;
  const action = completes === undefined ? listed(choices) : pathsOf(completes);
  const after = shellQuoted(`[${escaped(text)}]${value === undefined ? '' : `:${escaped(value)}:${action}`}`);
  const mark = value === undefined ? '' : '=';
  const before = repeatable ? '*' : `(${flags.join(' ')})`;
  if (long === undefined) return `${shellQuoted(`${before}${first}${mark}`)}${after}`;
  // A short flag's value may stand right behind it.
  return `${shellQuoted(before)}{${first}${value === undefined ? '' : '+'},${long}${mark}}${after}`;
}

function listed(choices: readonly string[]): string {
  return choices.length === 0 ? ' ' : `(${choices.join(' ')})`;
}

function pathsOf(completes: 'file' | 'directory'): string {
  return completes === 'file' ? '_files' : '_files -/';
}

function escaped(text: string): string {
  return text.replace(/[\\[\]:]/g, '\\$&');
}
