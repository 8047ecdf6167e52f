#compdef filings
# zsh completion for filings; it may be sourced, or found in fpath. 'filings __complete' decides what is offered.

_filings() {
  local text
  local -a reply
  text="$({ command filings __complete zsh "${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX" </dev/null; } 2>/dev/null)"
  reply=("${(@f)text}")
  case "$reply[1]" in
    words) shift reply; (( $#reply )) && _describe -t filings 'filings' reply ;;
    file) compset -p ${#reply[2]}; _files ;;
    directory) compset -p ${#reply[2]}; _files -/ ;;
  esac
}

if [[ $funcstack[1] == _filings ]]; then
  _filings "$@"
else
  compdef _filings filings
fi
