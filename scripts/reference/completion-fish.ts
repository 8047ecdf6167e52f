import { GENERATED, isNothing, type Offered, type OfferedCommand, type OfferedOption } from './completion-model.ts';

/** The completion script for fish 3.0 and later. */
export function fishCompletion(model: readonly OfferedCommand[]): string {
  const places = model.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  return `# fish completion for filings
# ${GENERATED}

function __filings_parse --description 'the command and the number of the next argument, once a line'
    set -l words (commandline -opc)
    while string match -q -- '*=*' "$words[1]"
        set -e words[1]
    end
    set -e words[1]
    set -q __filings_line; and test "$words" = "$__filings_line"; and return
    set -g __filings_line $words
    set -g __filings_place ''
    set -g __filings_number 1
    set -l option
    set -l rest
    for word in $words
        if test -n "$option"
            set option
            continue
        end
        set -l next (string trim -- "$__filings_place $word")
        if test -n "$rest"
            set -g __filings_number (math $__filings_number + 1)
        else if test "$word" = --
            set rest yes
        else if string match -q -- '--*=*' $word
        else if string match -q -- '-?*' $word
            __filings_takes_value "$__filings_place" $word; and set option yes
        else if contains -- $next ${places.join(' ')}
            set -g __filings_place $next
        else
            set -g __filings_number (math $__filings_number + 1)
        end
    end
end

function __filings_takes_value --description 'whether the next word is the value of this option of the command'
    set -l flag $argv[2]
    if not string match -q -- '--*' $flag
        # In a word of short options, the value of an option follows its letter.
        for letter in (string split '' -- (string sub -s 2 -- $flag))
            if contains -- "$argv[1]|-$letter" ${valued(model, '-')}
                string match -q -- "*$letter" $flag
                return
            end
        end
        return 1
    end
    contains -- "$argv[1]|$flag" ${valued(model, '--')}
end

function __filings_at --description 'whether the line is at this command, and at this argument'
    __filings_parse
    test "$__filings_place" = "$argv[1]"; or return
    set -q argv[2]; or return 0
    set -l number (string replace -- + '' $argv[2])
    if string match -q -- '*+' $argv[2]
        test $__filings_number -ge $number
    else
        test $__filings_number -eq $number
    end
end

# The program asks the service and prints no control characters. Words that the shell would expand are not completed.
function __filings_names
    __filings_parse
    string match -qr '[$(]' -- $__filings_line; and return
    command filings __complete -- (string replace -r '^~/' "$HOME/" -- $__filings_line) 2>/dev/null </dev/null
end

function __filings_directories
    __fish_complete_directories (string replace -r -- '^--[^=]*=' '' (commandline -ct))
end

complete -c filings -f
${model.map(commandLines).join('\n')}`;
}

/** The options with one or two dashes that take a value, as `COMMAND|FLAG`. */
function valued(model: readonly OfferedCommand[], dashes: '-' | '--'): string {
  return model
    .flatMap(({ path, options }) =>
      options
        .filter(({ value }) => value !== undefined)
        .flatMap(({ flags }) => flags.filter((flag) => flag.startsWith('--') === (dashes === '--')))
        .map((flag) => quoted(`${path}|${flag}`)),
    )
    .join(' ');
}

function commandLines({ path, children, arguments: list, options }: OfferedCommand): string {
  const at = (...place: readonly string[]) =>
    `complete -c filings -n ${quoted(['__filings_at', quoted(path), ...place].join(' '))}`;
  const commands = children.map(({ name, summary }) => `${at('1')} -a ${quoted(name)} -d ${quoted(summary)}`);
  const offers = list.flatMap(({ number, variadic, ...any }) =>
    isNothing(any) ? [] : [`${at(variadic ? `${number}+` : `${number}`)} ${action(any)}`],
  );
  return [...commands, ...offers, ...options.map((option) => optionLine(at(), option)), ''].join('\n');
}

function optionLine(at: string, { flags, text, value, ...offered }: OfferedOption): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)).join(' ');
  if (value === undefined) return `${at} ${names} -d ${quoted(text)}`;
  // -x is the same as -r without files.
  const what = isNothing(offered) ? '-x' : `${offered.completes === 'file' ? '-r' : '-x'} ${action(offered)}`;
  return `${at} ${names} ${what} -d ${quoted(text)}`;
}

function action({ words, completes }: Offered): string {
  switch (completes) {
    case 'file':
      return '-F';
    case 'directory':
      return "-a '(__filings_directories)'";
    case 'name':
      return "-a '(__filings_names)'";
    default:
      return `-a ${quoted(words.join(' '))}`;
  }
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
