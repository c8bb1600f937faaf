#!/bin/sh
# usage: unittest.sh PYTHON SCRIPT: runs a file of unittest. With $GRAPNEL_TEST_FILTER, which ./x test sets from its argument, a
# file whose name holds it runs whole, and of others the tests whose names do.
python=$1 script=$2
if [ "$python" = .venv/bin/python ] && [ ! -e .venv/ready ]; then
  echo 'there is no .venv with TensorFlow: ./x venv makes it'
  exit 1
fi
set --
case $script in
  *"$GRAPNEL_TEST_FILTER"*) ;;
  *) set -- -k "$GRAPNEL_TEST_FILTER" ;;
esac
exec "$python" "$script" -v "$@"
