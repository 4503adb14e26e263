#!/usr/bin/env bash
# Fuzzes each target for SECONDS_EACH seconds (default 60): `fuzz/run.sh [target…]`. Runs the canary
# first, which must fail: a fuzzer that misses it is not working. New inputs stay in
# target/fuzz/corpus, where the next run begins. A failing input is shown with its file, which
# belongs into fuzz/regressions/<target>.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${SECONDS_EACH:-60}
tools=$PWD/target/tools
if ! cargo +nightly --version >/dev/null 2>&1; then
  echo "fuzz: libFuzzer needs a nightly compiler, and there is none: rustup toolchain install nightly" >&2
  exit 2
fi
if ! command -v cargo-fuzz >/dev/null 2>&1; then
  export PATH="$tools/bin:$PATH"
  command -v cargo-fuzz >/dev/null 2>&1 || cargo install --quiet --locked --root "$tools" cargo-fuzz
fi

mapfile -t all < <(cd fuzz/fuzz_targets && ls -- *.rs | sed 's/\.rs$//' | grep -v '^canary$')
targets=("$@")
[ "${#targets[@]}" -gt 0 ] || targets=("${all[@]}")
for target in "${targets[@]}"; do
  case " ${all[*]} " in
    *" $target "*) ;;
    *) echo "fuzz: unknown target $target; allowed: ${all[*]}" >&2; exit 2 ;;
  esac
done

# There is no unsafe code, so the address sanitiser would only slow this down. Overflows panic.
fuzz() { cargo +nightly fuzz "$1" --fuzz-dir fuzz --sanitizer none "${@:2}"; }

# cargo-fuzz has no option --locked.
cargo +nightly metadata --locked --manifest-path fuzz/Cargo.toml --format-version 1 >/dev/null

log=$(mktemp)
trap 'rm -f "$log"' EXIT
fuzz build

echo "canary: must fail"
artifacts=$(mktemp -d)
mkdir "$artifacts/corpus"
if fuzz run canary "$artifacts/corpus" -- -max_total_time=60 -artifact_prefix="$artifacts/" >"$log" 2>&1; then
  echo "fuzz: the canary was not found in 60 s: nothing here can be trusted" >&2
  exit 1
elif ! grep -q "the canary has been found" "$log"; then
  cat "$log" >&2
  exit 1
fi
rm -rf "$artifacts"

failed=()
for target in "${targets[@]}"; do
  grown=target/fuzz/corpus/$target
  mkdir -p "$grown"
  words=()
  if [ "$target" = scenario ]; then
    # Keys and words of the format, which a fuzzer cannot guess letter by letter.
    grep -oE '"[a-z][a-z0-9_-]*"' docs/scenario.schema.json | sort -u >target/fuzz/scenario.dict
    words=(-dict=target/fuzz/scenario.dict)
  fi
  echo "$target: ${seconds} s"
  if fuzz run "$target" "$grown" "fuzz/corpus/$target" -- -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 "${words[@]}" >"$log" 2>&1; then
    grep -E '^stat::number_of_executed_units|^stat::average_exec_per_sec' "$log" | sed 's/^stat::/  /'
  else
    failed+=("$target")
    grep -vE '^(#|INFO|stat::)' "$log" | tail -40
  fi
done
if [ "${#failed[@]}" -gt 0 ]; then
  echo "fuzz: failed: ${failed[*]}" >&2
  exit 1
fi
