#!/usr/bin/env bash
# Compiles the engine to WebAssembly, and prints the path of the file. rustup provides the target.
# Debian provides the sources of the standard library instead, which are then compiled too.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=wasm32-unknown-unknown
build=(build --locked --package eifel-web --lib --target "$target" --profile web)
linker=$(compgen -c wasm-ld | sort -u | head -n 1 || true)

if [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
  cargo "${build[@]}"
elif [ -x /usr/bin/rustc ] && [ -n "$linker" ] && [ -e "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ]; then
  export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$linker"
  # A separate folder, since the output of another compiler cannot be used.
  export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/web"
  cargo "${build[@]}" -Zbuild-std=std,panic_abort
else
  echo "the target $target is missing; \`rustup target add $target\` installs it, or on Debian \`apt-get install rustc-web rust-web-src lld-22\`" >&2
  exit 2
fi
echo "${CARGO_TARGET_DIR:-target}/$target/web/eifel_web.wasm"
