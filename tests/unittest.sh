#!/bin/sh
# usage: unittest.sh PYTHON SCRIPT: runs a file of unittest. With $GRAPNEL_TEST_FILTER, which ./x test sets from its argument, a
# file whose name holds it runs whole, and of others the tests whose names do. 77, skipped, where .venv is asked for and not made.
python=$1 script=$2
if [ "$python" = .venv/bin/python ] && [ ! -e .venv/ready ]; then
  echo 'no .venv: see ./x venv'
  exit 77
fi
set --
case $script in
  *"$GRAPNEL_TEST_FILTER"*) ;;
  *) set -- -k "$GRAPNEL_TEST_FILTER" ;;
esac
exec "$python" "$script" -v "$@"
