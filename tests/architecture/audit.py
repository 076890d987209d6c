"""Compares the pinned dependencies with published advisories: `python -m tests.architecture.audit`.

Fails when one has a known hole. Where the advisories can't be reached it says so and goes on: it then knows nothing.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "var" / "audit"
WANTED = "pip-audit==2.10.1"
PARTS = ("requirements-start.txt", "requirements-site.txt", "requirements-models.txt")
"""Named one by one: pip-audit doesn't follow what requirements.txt includes."""


def main() -> int:
    program = HOME / "bin" / "pip-audit"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", str(HOME)], check=True)
        subprocess.run([str(HOME / "bin" / "pip"), "install", "--quiet", WANTED], check=True, stderr=subprocess.DEVNULL)
    files = [word for part in PARTS for word in ("--requirement", part)]
    command = [str(program), *files, "--no-deps", "--disable-pip", "--format", "json"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    try:
        rows = json.loads(result.stdout)["dependencies"]
    except (ValueError, KeyError):
        print("The advisories can't be reached from here: the dependencies were not compared with them.")
        return 0
    return tell(rows)


def tell(rows: list[dict]) -> int:
    """Print what was found; 1 when something has a known hole."""
    looked = [row for row in rows if "vulns" in row]
    holes = [(row["name"], row["version"], hole["id"]) for row in looked for hole in row["vulns"]]
    for name, version, hole in holes:
        print(f"{name} {version} has a known hole: {hole}. Take a version without it.")
    n_left_out = len(rows) - len(looked)
    print(f"{len(looked)} dependencies compared with the advisories, {n_left_out} could not be, {len(holes)} holes.")
    return 1 if holes else 0


if __name__ == "__main__":
    sys.exit(main())
