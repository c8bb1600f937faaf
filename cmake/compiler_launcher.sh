#!/bin/sh
# CMake runs this instead of the compiler. It runs ccache, which can then reuse in one clone what
# was compiled in another clone (the script x makes ccache use paths relative to the clone).
# Precompiled headers, which contain absolute paths, need two changes:
# - beside each header is FILE.pch.sum, a hash of everything it was made from, which ccache uses instead of the file
#   (CCACHE_PCH_EXTSUM);
# - the path of the header to include first, which ccache does not make relative, is made relative here.
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
# Without a base directory: the header of another clone would name files that are not here.
CCACHE_BASEDIR='' ccache "$@" || exit
[ "$CCACHE_BASEDIR" ] || exit 0
# shellcheck disable=SC2046 # a list of names
if sums=$(sha256sum $(sed 's/^[^:]*: //; s/\\$//' "$sources") 2>/dev/null); then
  printf '%s\n' "$*" "$sums" | sed "s|$CCACHE_BASEDIR||g" >"$output.sum"
fi
