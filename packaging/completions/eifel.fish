# Completes commands and options of eifel from its own --help, and files otherwise.
function __eifel_words
    set -l given (commandline -opc)[2..-1]
    if string match -q -- '-*' (commandline -ct)
        # The command is what comes before the first option.
        set -l command
        for word in $given
            string match -q -- '-*' $word; and break
            set -a command $word
        end
        while not set -l said (eifel $command --help 2>/dev/null); and test (count $command) -gt 0
            set -e command[-1]
        end
        eifel $command --help 2>/dev/null | string match -ra -- '--[a-z-]+' | sort -u
    else if eifel $given --help >/dev/null 2>&1
        eifel $given --help | awk '/^$/ { part++ } part == 2 && /^  [a-z]/ { print $1 }'
    end
end
complete -c eifel -a '(__eifel_words)'
