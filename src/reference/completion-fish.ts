import type { OfferedCommand, OfferedOption } from './completion-model.ts';
import { GENERATED } from './completion-model.ts';

/** The completion script of fish. */
export function fishCompletion(model: readonly OfferedCommand[]): string {
  const places = model.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  return `# fish completion for filings
# ${GENERATED}

function __filings_at --description 'whether the command line is at this command'
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$at $word")
        contains -- $next ${places.join(' ')}; and set at $next
    end
    test "$at" = "$argv"
end

complete -c filings -f
${model.map(commandLines).join('\n')}`;
}

function commandLines(command: OfferedCommand): string {
  const at = `complete -c filings -n ${quoted(`__filings_at ${command.path}`.trimEnd())}`;
  const children = command.children.map(({ name, summary }) => `${at} -a ${quoted(name)} -d ${quoted(summary)}`);
  const choices = command.choices.length === 0 ? [] : [`${at} -a ${quoted(command.choices.join(' '))}`];
  const paths = command.completes === undefined ? [] : [`${at} ${pathsOf(command.completes)}`];
  return [...children, ...choices, ...paths, ...command.options.map((option) => optionLine(at, option)), ''].join('\n');
}

function optionLine(at: string, { flags, text, value, choices, completes }: OfferedOption): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)).join(' ');
  const words = choices.length === 0 ? '' : ` -a ${quoted(choices.join(' '))}`;
  const paths = completes === undefined ? '' : ` ${pathsOf(completes)}`;
  return `${at} ${names}${value === undefined ? '' : ' -r'}${words}${paths} -d ${quoted(text)}`;
}

function pathsOf(completes: 'file' | 'directory'): string {
  return completes === 'file' ? '-F' : `-a '(__fish_complete_directories)'`;
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
