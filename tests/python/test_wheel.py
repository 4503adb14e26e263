"""A wheel runs in an environment that sees nothing else of this checkout."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import eifel

ROOT = Path(__file__).parents[2]


def test_a_wheel_runs_in_an_environment_of_its_own(tmp_path: Path) -> None:
    maturin = Path(sys.executable).with_name("maturin")
    build = [maturin, "build", "--profile", "engine", "--locked", "--quiet", "--out", tmp_path / "wheels"]
    subprocess.run(build, cwd=ROOT, check=True, env={**os.environ, "VIRTUAL_ENV": sys.prefix})
    (wheel,) = (tmp_path / "wheels").iterdir()
    home = tmp_path / "home"
    venv.create(home, with_pip=False)
    packages = home / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    installed = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        packages,
        wheel,
    ]
    subprocess.run(installed, check=True)
    # Its dependencies come from this environment. A path in a .pth file is searched, but its own
    # .pth files are not read. One of those names this checkout.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    shutil.copy(ROOT / "examples" / "spike.toml", tmp_path)
    code = "import eifel, json; print(json.dumps([eifel.__file__, eifel.run('spike.toml').main['timeouts']]))"
    ran = subprocess.run(
        [home / "bin" / "python", "-I", "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    where, timeouts = json.loads(ran.stdout)
    assert Path(where).is_relative_to(packages)
    assert timeouts == eifel.run(ROOT / "examples" / "spike.toml").main["timeouts"]
