"""The kernel accepts programs and segments, and refuses everything else."""

from __future__ import annotations

import random
from array import array

import pytest
from twigcast.filtering.kernel._kernel import Segment, SegmentMatcher, build

from experiments.engines.routing.expression_automaton import expression_automaton
from experiments.engines.routing.path_expression import parse_path_expression
from twigcast.filtering.compiling import Compiler
from twigcast.pattern import parse


def engine(segment: Segment, positions: int) -> SegmentMatcher:
    made = SegmentMatcher(1 << 20, True, True, 1 << 20, 100, 100, 100.0, 1 << 20)
    made.use(object(), (segment,), positions, b"", b"")
    return made


def sample() -> tuple[Compiler, list[bytes]]:
    compiler = Compiler()
    texts = [
        "//a[b]/c",
        "//a[@x='1' or @y > 2]",
        "/r//a[not(c)]",
        "//*[contains(., 'z')]",
        "//b",
        "//b | //c",
        "/",
    ]
    programs = [compiler.compile(parse(text)).words for text in texts]
    schema = expression_automaton([parse_path_expression("/r(/a/b)+/*")])
    return compiler, [*programs, compiler.compile(schema).words]


def test_a_segment_is_the_same_for_the_same_programs() -> None:
    """Building is deterministic, so that a file can be named by its content."""
    first, second = sample(), sample()
    assert build(first[0].vocabulary, [*range(8)], first[1]) == build(
        second[0].vocabulary, [*range(8)], second[1]
    )


def test_positions_need_not_be_dense() -> None:
    """A segment has the positions that it was built with."""
    compiler, programs = sample()
    segment = Segment(build(compiler.vocabulary, [5, 900, 901, 902, 70, 71, 3, 999], programs))
    found, _, error, _ = engine(segment, 1000).match(b"<r><a x='1'><b/><c/></a></r>")
    assert error is None
    assert list(memoryview(found).cast("I")) == [3, 5, 70, 71, 900]


def test_what_is_not_a_program_is_refused() -> None:
    """A damaged program is refused, or is another valid program that matches position 0 or nothing."""
    compiler, programs = sample()
    source = random.Random(3)
    refused = 0
    for _ in range(300):
        words = array("I", source.choice(programs))
        for _ in range(source.choice([1, 2])):
            words[source.randrange(len(words))] = source.choice([0, 1, 2, 7, 0x80000000, 0xFFFFFFFF])
        if source.random() < 0.3:
            words = words[: source.randrange(len(words))]
        try:
            segment = Segment(build(compiler.vocabulary, [0], [words.tobytes()]))
        except ValueError:
            refused += 1
            continue
        found, _, error, _ = engine(segment, 1).match(b"<r><a x='1'><b/></a></r>")
        assert error is None
        assert list(memoryview(found).cast("I")) in ([], [0])
    assert 100 < refused < 300


def test_bytes_that_are_no_segment_are_refused() -> None:
    """Empty input, random bytes and text are refused as segments."""
    for data in (b"", b"x" * 1000, bytes(1000)):
        with pytest.raises(ValueError, match=r"header|segment"):
            Segment(data)


def test_an_unaligned_segment_is_refused() -> None:
    """Tables are read in place, so a segment must be aligned."""
    compiler, programs = sample()
    data = build(compiler.vocabulary, [*range(8)], programs)
    with pytest.raises(ValueError, match="aligned"):
        Segment(memoryview(b"x" + data)[1:])


def test_single_byte_encodings_of_python_are_known() -> None:
    """expat knows four encodings; other single-byte encodings come from Python's codecs."""
    compiler = Compiler()
    program = compiler.compile(parse("//é[. = 'ж€']")).words
    segment = Segment(build(compiler.vocabulary, [0], [program]))
    for encoding, text in (("windows-1251", "ж€"), ("koi8-r", "ж")):
        body = f"<?xml version='1.0' encoding='{encoding}'?><r>{text}</r>".encode(encoding)
        assert engine(segment, 1).match(body)[2] is None
    compiler = Compiler()
    segment = Segment(build(compiler.vocabulary, [0], [compiler.compile(parse("//r[. = 'ж€']")).words]))
    body = "<?xml version='1.0' encoding='windows-1251'?><r>ж€</r>".encode("windows-1251")
    assert len(engine(segment, 1).match(body)[0]) == 1
