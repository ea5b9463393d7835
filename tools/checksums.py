"""Write the checksums of the packaged resources: ``python tools/checksums.py``.

To be run after ``make_lexicon.py`` and ``train_tagger.py``.
"""

from ietest_fast.lexicon.pipelines import CHECKSUMS, RESOURCES, hash_resources

if __name__ == "__main__":
    (RESOURCES / CHECKSUMS).write_text(hash_resources(RESOURCES), encoding="utf-8", newline="\n")
