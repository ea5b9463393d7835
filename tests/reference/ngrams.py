"""Hashed word n-grams, the obvious way."""

from __future__ import annotations


def murmur3_32(data: bytes) -> int:
    """MurmurHash3_x86_32 with seed 0, in integers of any length."""
    mask, hashed = 0xFFFFFFFF, 0

    def rotate(value: int, by: int) -> int:
        return (value << by | value >> (32 - by)) & mask

    for begin in range(0, len(data), 4):
        block = data[begin : begin + 4]
        mixed = int.from_bytes(block, "little") * 0xCC9E2D51 & mask
        hashed ^= rotate(mixed, 15) * 0x1B873593 & mask
        if len(block) == 4:
            hashed = (rotate(hashed, 13) * 5 + 0xE6546B64) & mask
    hashed ^= len(data)
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & mask
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & mask
    return hashed ^ hashed >> 16


def hash_ngrams(text: str, max_n: int, bits: int) -> list[int]:
    """Return the buckets of a text whose words single blanks separate, ascending."""
    words = text.split(" ") if text else []
    buckets = set()
    for n in range(1, max_n + 1):
        for begin in range(len(words) - n + 1):
            hashed = murmur3_32(" ".join(words[begin : begin + n]).encode())
            signed = hashed - 2**32 if hashed >= 2**31 else hashed
            buckets.add(abs(signed) % 2**bits)
    return sorted(buckets)


def encode(splits, max_n: int, bits: int, *, apart: bool):
    """Return the n-grams that are columns, and of each split each row's columns and size.

    `splits` has by name a list of inputs, each a tuple of texts whose words single blanks separate.
    """

    def buckets_of(texts) -> list[int]:
        if not apart:
            return hash_ngrams(" ".join(text for text in texts if text), max_n, bits)
        return [
            bucket + place * 2**bits
            for place, text in enumerate(texts)
            for bucket in hash_ngrams(text, max_n, bits)
        ]

    counts: dict[int, int] = {}
    for texts in set(splits["train"]):
        for bucket in buckets_of(texts):
            counts[bucket] = counts.get(bucket, 0) + 1
    columns = sorted(counts, key=lambda bucket: (-counts[bucket], bucket))
    number = {bucket: column for column, bucket in enumerate(columns)}
    rows = {
        name: [
            ([number[b] for b in buckets_of(texts) if b in number], len(buckets_of(texts)))
            for texts in inputs
        ]
        for name, inputs in splits.items()
    }
    return columns, rows
