#compdef filings
# zsh completion for filings; it may be sourced, or found in fpath. Where 'filings __complete' prints nothing, zsh offers paths.
_filings() {
  local line word help
  local -a reply
  for line in "${(@f)$(command filings __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}"; do
    # _describe takes what is before the first plain colon.
    word=${${${line%%$'\t'*}//\\/\\\\}//:/\\:}
    help=${line#*$'\t'}
    [[ -n "$line" ]] && reply+=("$word${help:+:$help}")
  done
  if (( $#reply )); then
    _describe filings reply
  else
    compset -P '--*='
    _files
  fi
}
if [[ $funcstack[1] == _filings ]]; then _filings "$@"; else compdef _filings filings; fi
