"""The reference engine for documents in fragments, by the letter of the thesis; slow, for comparison."""

from twigcast.fragmenting.by_the_letter.matching import (
    ByTheLetter,
    Eliminate,
    LetterMatching,
    LetterOptions,
    LetterWork,
)

__all__ = ["ByTheLetter", "Eliminate", "LetterMatching", "LetterOptions", "LetterWork"]
