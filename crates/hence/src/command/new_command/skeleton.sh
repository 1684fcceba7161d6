#!/bin/sh
# hence @NAME@: @COMMENT@
#
# `hence @NAME@` runs this file wherever it lies on the PATH. In HENCE it finds the program that called it, and in
# HENCE_DATA the ledger, if one was named: hence --data DIR @NAME@
set -eu
hence=${HENCE:-hence}

usage() {
    printf '%s\n\n%s\n' @DESCRIPTION@ 'Usage: hence @NAME@ [--help]'
}

for argument in "$@"; do
    case $argument in
        -h | --help)
            usage
            exit 0
            ;;
        *)
            printf 'error: unexpected argument: %s\n\n' "$argument" >&2
            usage >&2
            exit 1
            ;;
    esac
done

# Here the work begins. Commands answer people; with `--format json` they answer programs.
"$hence" list nodes
