# Completes commands and options of eifel from its own --help, and files otherwise.
_eifel() {
  local word=${COMP_WORDS[COMP_CWORD]} path=("${COMP_WORDS[@]:1:COMP_CWORD-1}") said
  COMPREPLY=()
  if [[ $word == -* ]]; then
    # The command is what comes before the first option.
    local command=()
    for said in "${path[@]}"; do [[ $said == -* ]] && break; command+=("$said"); done
    while ! said=$("${COMP_WORDS[0]}" "${command[@]}" --help 2>/dev/null) && ((${#command[@]})); do
      unset 'command[-1]'
    done
    mapfile -t COMPREPLY < <(compgen -W "$(grep -oE -- '--[a-z-]+' <<<"$said" | sort -u)" -- "$word")
  elif said=$("${COMP_WORDS[0]}" "${path[@]}" --help 2>/dev/null); then
    mapfile -t COMPREPLY < <(compgen -W "$(awk '/^$/ { part++ } part == 2 && /^  [a-z]/ { print $1 }' <<<"$said")" -- "$word")
  fi
}
complete -o default -F _eifel eifel
