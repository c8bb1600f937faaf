#!/bin/sh
# What CMake starts in the compiler's place: ccache, so that it finds in one clone what was compiled in another (x has it go by
# paths relative to the clone). Precompiled headers, which hold absolute paths, need help:
# - beside one stands FILE.pch.sum, of all that it was made of, which ccache takes for the file (CCACHE_PCH_EXTSUM);
# - the header to include first, a path that ccache does not make relative, is made so here.
previous='' sources='' output='' is_header=''
for argument; do
  case $previous,$argument in
  -MF,*) sources=$argument ;;
  -o,*) output=$argument ;;
  *,-emit-pch) is_header=1 ;;
  -Xclang,*/cmake_pch.hxx) argument=${argument#"$PWD/"} ;;
  esac
  previous=$argument
  shift
  set -- "$@" "$argument"
done
[ $is_header ] || exec ccache "$@"

rm -f "$output.sum"
# With no base directory: the header of another clone would name files that are not here.
CCACHE_BASEDIR='' ccache "$@" || exit
[ "$CCACHE_BASEDIR" ] || exit 0
# shellcheck disable=SC2046 # a list of names
if sums=$(sha256sum $(sed 's/^[^:]*: //; s/\\$//' "$sources") 2>/dev/null); then
  printf '%s\n' "$*" "$sums" | sed "s|$CCACHE_BASEDIR||g" >"$output.sum"
fi
