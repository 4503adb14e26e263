"""Writes the documentation as a site: `python packaging/site.py FOLDER`, where .ci/site.txt is installed.

The pages are those of the repository. Links to its other files become their names, because a site has no code beside
it. A link that leads nowhere is an error.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"README.md": "index.md"} | {
    name: name.lower() for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")
}
"""Pages beside docs/, and their names in the site."""
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s#]*)(?P<anchor>#[^)\s]*)?\)")


def place(file: Path) -> Path | None:
    """Returns where a file of the repository is in the site; `None` if it is not there."""
    name = file.relative_to(ROOT).as_posix()
    if name in PAGES:
        return Path(PAGES[name])
    return Path(name).relative_to("docs") if name.startswith("docs/") and file.is_file() else None


def adapt(text: str, source: Path, at: Path) -> str:
    """Returns a page with links as they are at its place in the site."""

    def link(found: re.Match[str]) -> str:
        target, anchor = found["target"], found["anchor"] or ""
        if not target or "://" in target or target.startswith("mailto:"):
            return found[0]
        file = (source.parent / target).resolve()
        if not file.exists():
            sys.exit(f"site: {source.relative_to(ROOT)}: {target}: no such file")
        there = place(file)
        if there is None:
            return f"{found['text']} (`{file.relative_to(ROOT).as_posix()}`)"
        return f"{found['image']}[{found['text']}]({os.path.relpath(there, at.parent)}{anchor})"

    return LINK.sub(link, text)


def contents(pages: Path) -> list[object]:
    """Returns the pages in the order of a reader: the guides by role, the reference, the rest."""
    guides = ["index.md", "operator.md", "author.md", "researcher.md"]
    of = {
        folder: sorted(file.relative_to(pages).as_posix() for file in (pages / folder).glob("*.md"))
        for folder in ("reference", "internals")
    }
    rest = sorted(file.name for file in pages.glob("*.md") if file.name not in guides)
    return [*guides, *({folder.capitalize(): files} for folder, files in of.items()), *rest]


def main() -> None:
    """Writes the site into the folder that the command names."""
    out = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as work:
        pages = Path(work) / "docs"
        shutil.copytree(ROOT / "docs", pages)
        sources = [*map(ROOT.joinpath, PAGES), *(ROOT / "docs").rglob("*.md")]
        for source in sources:
            at = place(source)
            assert at is not None
            (pages / at).write_text(adapt(source.read_text(encoding="utf-8"), source, at), encoding="utf-8")
        settings = (ROOT / "packaging/mkdocs.yml").read_text(encoding="utf-8")
        (Path(work) / "mkdocs.yml").write_text(f"{settings}nav: {json.dumps(contents(pages))}\n", encoding="utf-8")
        # Not quiet: what MkDocs does not print, it does not count as a warning either.
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
        silent = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
        done = subprocess.run(command, cwd=work, env=silent, capture_output=True, text=True, check=False)
        sys.exit(done.stderr if done.returncode else 0)


if __name__ == "__main__":
    main()
