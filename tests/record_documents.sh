#!/bin/sh
# Stands in grapnel's place in text tests, and keeps what --json prints for check_documents.py: the command on a line, then the
# documents. $GRAPNEL_BINARY is grapnel, $GRAPNEL_DOCUMENTS the folder.

# record FILE: what the command wrote there is a document. Of more than a megabyte each schema has had enough before.
record() {
  [ "$(stat -c %s "$1")" -le 1000000 ] || return 0
  kept=$(mktemp "$GRAPNEL_DOCUMENTS/XXXXXXXXXX")
  { printf '%s' "$command" | tr '\n' ' ' && echo && cat "$1"; } >"$kept" && mv "$kept" "$kept.json"
}

# A command that a signal ended has not failed.
finish() {
  [ "$1" -le 128 ] || kill "-$(($1 - 128))" $$
  exit "$1"
}

command=$*
case " $command " in
  *" --json "* | " view "*" --format json "*)
    printed=$(mktemp "$GRAPNEL_DOCUMENTS/XXXXXXXXXX")
    "$GRAPNEL_BINARY" "$@" >"$printed"
    code=$?
    [ "$code" -gt 1 ] || [ ! -s "$printed" ] || record "$printed"
    cat "$printed"
    rm "$printed"
    finish "$code"
    ;;
  " view "*" -o "*".json "*)
    "$GRAPNEL_BINARY" "$@"
    code=$?
    output=${command##* -o }
    output=${output%% *}
    case $output in *.json) [ "$code" -ne 0 ] || record "$output" ;; esac
    finish "$code"
    ;;
esac
exec "$GRAPNEL_BINARY" "$@"
