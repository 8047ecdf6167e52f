# fish completion for filings, for fish 3.0 and later. 'filings __complete' decides what is offered.

function __filings_complete
    set -g __filings_reply (command filings __complete fish (commandline -cp) 2>/dev/null </dev/null)
    set -l kind "$__filings_reply[1]"
    set -e __filings_reply[1]
    switch $kind
        case file
            # fish completes paths itself, but not in one word with a short option.
            string match -qr '^-[^-]' -- $__filings_reply[1]; or return 1
            set __filings_reply $__filings_reply[1](__fish_complete_path $__filings_reply[2])
        case directory
            set __filings_reply $__filings_reply[1](__fish_complete_directories $__filings_reply[2])
    end
    return 0
end

complete -c filings -n __filings_complete -f -a '$__filings_reply'
