"""What two texts are compared by: their words, without case, punctuation and Unicode form.

The key of a text is its words with one space between them. Two texts with one key are duplicates,
and a text appears in another where its key stands in the other's, from word to word.
"""

from __future__ import annotations

import polars as pl

# Fewer words have no 3-gram.
GRAM = 3

# Scripts written without spaces: each character, with its marks, is a word of its own, so that
# 3-grams of words are 3-grams of characters there. U+30FC lengthens a vowel in kana.
_UNSPACED = (
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\u{30FC}&&[^\p{M}]]\p{M}*"
)
# Characters that take no room, and the ones that only choose how another is drawn.
_INVISIBLE = r"[\p{Cf}\u{FE00}-\u{FE0F}]"
_APOSTROPHES = "['\u2018\u2019\u02bc]"
# Punctuation separates, but for the marks that C#, 5% and R&D are told apart by.
_SEPARATORS = r"[\p{P}\s\p{Cc}&&[^#%\&@]]+"

ABOUT = (
    "Questions are equal where they have the same words after NFKC, case folding, and without "
    "punctuation and white space. Chinese, Japanese kana, Thai, Lao, Khmer and Burmese are written "
    "without spaces: there each character counts as a word."
)


def keys_of(texts: pl.Series) -> pl.Series:
    """The key of each text.

    NFKC and case folding; characters without width and apostrophes go, all other punctuation but
    `#`, `%`, `&` and `@` parts words as white space does; a character of a script written without
    spaces is a word.

    Returns:
        As many keys as texts; null for a null text and for one without any word.
    """
    folded = texts.str.normalize("NFKC")
    if (folded.str.len_bytes() != folded.str.len_chars()).any():
        folded = _beyond_ascii(folded)
    else:
        folded = folded.str.to_lowercase()
    words = folded.str.replace_all(_APOSTROPHES, "").str.replace_all(_SEPARATORS, " ")
    words = words.str.strip_chars(" ")
    return words.set(words == "", None).rename("key")


def n_words(keys: pl.Series) -> pl.Series:
    """Words of each key; null for none."""
    return keys.str.count_matches(" ", literal=True) + 1


def _beyond_ascii(folded: pl.Series) -> pl.Series:
    """Python folds case by Unicode's rules; polars only knows lower case."""
    cased = [None if text is None else text.casefold() for text in folded]
    plain = pl.Series(cased, dtype=pl.String).str.normalize("NFKC")
    return plain.str.replace_all(_INVISIBLE, "").str.replace_all(f"({_UNSPACED})", " $1 ")
