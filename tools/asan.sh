#!/bin/sh
# Fuzz the kernel under AddressSanitizer and UndefinedBehaviorSanitizer.
#
#     tools/asan.sh [--minutes 10] [--seed 1] [--only threads]       arguments go to python -m tests.fuzz
#
# The extension is built into a temporary folder with a copy of the Python sources beside it; the project and
# any installed twigcast stay as they are.  PYTHON names the interpreter, CXX the compiler.
# Python itself is not instrumented: leaks are not reported, and libasan is preloaded.
set -eu

project=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
cxx=${CXX:-g++}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -r "$project/pyproject.toml" "$project/setup.py" "$project/src" "$work/"
find "$work/src" -name '*.so' -delete
for file in README.md LICENSE; do
    if [ -e "$project/$file" ]; then cp "$project/$file" "$work/"; fi
done

sanitizers="-fsanitize=address,undefined"
(
    cd "$work"
    TWIGCAST_CXXFLAGS="$sanitizers -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g -O1" \
        TWIGCAST_LDFLAGS="$sanitizers" CC=$cxx CXX=$cxx \
        "$python" setup.py --quiet build_ext --inplace --force
)

# The quarantine of freed memory is small, because it counts as memory that an input uses.
cd "$project"
export LD_PRELOAD="$($cxx -print-file-name=libasan.so) $($cxx -print-file-name=libubsan.so)"
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:quarantine_size_mb=32
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export PYTHONPATH="$work/src" PYTHONMALLOC=malloc
"$python" -m tests.fuzz --sanitized "$@"
