# fish completion for filings. Where 'filings __complete' prints nothing, fish offers paths.
function __filings_complete
    set -l word (commandline -ct)
    # An open quote cannot be unescaped.
    set -l plain (string unescape -- $word 2>/dev/null; or string trim -l -c '\'"' -- $word)
    set -g __filings_words (command filings __complete (commandline -opc)[2..] "$plain" 2>/dev/null </dev/null)
    set -q __filings_words[1]
end
complete -c filings -n __filings_complete -f -a '$__filings_words'
