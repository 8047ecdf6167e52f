# bash completion for filings, for bash 3.2 and later. 'filings __complete' decides what is offered and quotes it.

_filings() {
  local line
  local -a reply=()
  COMPREPLY=()
  while IFS= read -r line; do
    reply+=("$line")
  done <<<"$({ COMP_WORDBREAKS="$COMP_WORDBREAKS" command filings __complete bash "${COMP_LINE:0:COMP_POINT}" </dev/null; } 2>/dev/null)"
  case "${reply[0]}" in
    words) COMPREPLY=("${reply[@]:1}") ;;
    file | directory)
      # Readline quotes paths that exist, and adds a slash to directories.
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do
        if [[ $line ]]; then COMPREPLY+=("${line#"${reply[3]}"}"); fi
      done <<<"$(compgen -A "${reply[0]}" -P "${reply[1]}" -- "${reply[2]}")"
      ;;
  esac
}

complete -F _filings filings
