"""Checks that `make` names what is missing, and that pip needs no Rust on the machine."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("sh", "bash", "test", "touch", "date", "rm", "mkdir", "cat")
FILES = ("Makefile", "pyproject.toml", "constraints.txt", "constraints-dev.txt")

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="SKIPPED: make is not installed")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Returns a folder with the Makefile, and with `bin`, where no more is than a shell and its tools."""
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        if found := shutil.which(tool):
            (tmp_path / "bin" / tool).symlink_to(found)
    for file in FILES:
        shutil.copy(ROOT / file, tmp_path)
    return tmp_path


def provide(checkout: Path, name: str, does: str = "exit 0") -> None:
    tool = checkout / "bin" / name
    tool.write_text(f"#!/bin/sh\n{does}\n")
    tool.chmod(0o755)


def said(checkout: Path, *words: str) -> list[str]:
    """Returns what a failing `make` says on standard error, without make's own last line."""
    path = {"PATH": str(checkout / "bin"), "LC_ALL": "C"}
    make = [str(shutil.which("make")), *words]
    done = subprocess.run(make, cwd=checkout, env=path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    *lines, last = done.stderr.splitlines()
    assert last.startswith("make: ***")
    assert done.stdout == "" and not (checkout / ".venv").exists()
    return lines


@pytest.mark.parametrize("target", ["setup", "engine", "wheel", "web", "reproduce", "test", "check", "hostile", "lint"])
def test_make_without_rust_names_it_in_one_line(checkout: Path, target: str) -> None:
    provide(checkout, "python3")
    for missing in ("cargo", "rustc"):
        (line,) = said(checkout, target)
        assert line.startswith(f"{missing} is missing: install stable Rust, 1.88 or newer (https://rustup.rs)")
        assert line.endswith("pip install .")
        provide(checkout, missing)


def test_make_without_python_names_it_in_one_line(checkout: Path) -> None:
    for tool in ("cargo", "rustc"):
        provide(checkout, tool)
    # None, one that is too old or lacks venv, and another one that is named.
    (none,) = said(checkout, "setup")
    provide(checkout, "python3", "exit 1")
    (old,) = said(checkout, "setup")
    (other,) = said(checkout, "setup", "PYTHON=python3.99")
    assert none == old and "(python3)" in old and "(python3.99)" in other
    assert old.startswith("Python 3.11 or newer with venv is missing") and "apt-get install python3-venv" in old


def test_the_checks_of_make_pass_on_a_machine_that_has_all(checkout: Path) -> None:
    for tool in ("cargo", "rustc", "python3"):
        provide(checkout, tool)
    done = subprocess.run(
        [str(shutil.which("make")), "rust", "python"],
        cwd=checkout,
        env={"PATH": str(checkout / "bin")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("code", [0, 1])
def test_a_build_says_how_far_it_is_and_shows_the_log_if_it_fails(tmp_path: Path, code: int) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/engine", tmp_path / ".ci")
    bin = tmp_path / ".venv/bin"
    bin.mkdir(parents=True)
    for tool, does in (
        ("cargo", "echo a v1; echo b v2; echo a v1; echo a v2"),
        ("maturin", f"echo $*; echo '   Compiling a v1'; echo '   Compiling b v2'; echo \"$MAKEFLAGS\"; exit {code}"),
    ):
        (bin / tool).write_text(f"#!/bin/sh\n{does}\n")
        (bin / tool).chmod(0o755)
    environment = {"PATH": f"{bin}:{os.environ['PATH']}", "MAKEFLAGS": "-j2"}
    command = [sys.executable, tmp_path / ".ci/engine", "engine"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stdout == "engine: building with profile engine; 3 crates the first time\n"
    log = "develop --profile engine --locked --skip-install\n   Compiling a v1\n   Compiling b v2\n\n"
    assert done.stderr == (log if code else "")


def test_each_package_is_pinned_in_one_list() -> None:
    names = [
        line.partition("==")[0]
        for file in ("constraints.txt", "constraints-dev.txt")
        for line in (ROOT / file).read_text().splitlines()
        if line[0].isalpha()
    ]
    assert len(names) == len({*names})
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    first = (ROOT / "constraints.txt").read_text()
    assert all(f"\n{re.split('[<>=]', package)[0]}==" in first for package in [*needed, "maturin"])


def test_pip_fetches_rust_where_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The README promises it: the build's backend asks for a package that downloads Rust."""
    import maturin

    monkeypatch.delenv("MATURIN_NO_INSTALL_RUST", raising=False)
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "puccinialin" in maturin.get_requires_for_build_wheel()
    cargo = tmp_path / "cargo"
    cargo.write_text("#!/bin/sh\n")
    cargo.chmod(0o755)
    assert "puccinialin" not in maturin.get_requires_for_build_wheel()
