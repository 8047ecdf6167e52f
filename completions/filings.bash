# bash completion for filings, for bash 3.2 and later. Where 'filings __complete' prints nothing, bash offers paths.
_filings() {
  local rest=${COMP_LINE:0:COMP_POINT} piece='' word='' quote='' before='' n=-1
  local -a words=()
  # bash splits words at = and :, too. A piece without a blank before it belongs to the word before it.
  for piece in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    word=${rest#"${rest%%[![:blank:]]*}"}
    if ((n < 0)) || [[ $word != "$rest" || -z $piece ]]; then words[++n]=; fi
    [[ $word == "$piece"* ]] || piece=$word
    before=${words[n]} words[n]+=$piece rest=${word#"$piece"}
  done
  # bash replaces the last piece only, and keeps what is before it.
  [[ $piece == [=:]* ]] && before=${words[n]}
  [[ $piece == [\'\"]* ]] && quote=${piece:0:1}
  for ((n = 0; n < ${#words[@]}; n++)); do
    word=${words[n]#[\'\"]}
    [[ $word == "${words[n]}" ]] || word=${word%[\'\"]}
    words[n]=${word//\\/}
  done
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    word=${word#"${before//\\/}"}
    if [[ -z $quote ]]; then printf -v word %q "$word"
    elif [[ $word == *[\$\`\\$quote]* ]]; then continue; fi
    COMPREPLY+=("$word")
  done < <(command filings __complete "${words[@]:1}" 2>/dev/null </dev/null)
}
complete -o default -F _filings filings
