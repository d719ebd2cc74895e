"""Documents that are matched by their structures have the answers of documents that are read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from twigcast import Index
from twigcast import spark as tc
from twigcast.document import DocumentLimits, NameTable
from twigcast.errors import DocumentError, StageError
from twigcast.pattern import Subscription, render
from twigcast.schema import read_dtd
from twigcast.spark.stages.structures import Keeping, StructureAnswers, StructureChoice, StructureColumn
from twigcast.subscriptions.versions import IndexVersion
from twigcast.workload import DocumentOptions, generate_documents, generate_subscriptions, news, presets

STRUCTURAL = ["//b", "/r[a]/b", "/r[not(c)]", "/r[a or c]//d", "//*/d | //c", "//p:e", "/r[a[d] and b]"]
OTHERS = [
    "//a[@x='1']",
    "/r[count(b) > 1]",
    "//b[2]",
    "//a[text()='t']",
    "/r[not(a/@x)]",
    "//p:e[. = '5']",
    "/r[b]/a[@x > 3]",
]
NAMESPACES = {"p": "urn:p"}
BODIES = [
    b"<r><a x='1'/><b/></r>",
    b"<r><b/><b/></r>",
    b"<r><c/><a>t</a></r>",
    b"<r><a x='7'><d/></a><b>t</b></r>",
    b"<q><e xmlns='urn:p'>5</e></q>",
    b"<q><e>5</e></q>",
    b"<r><!-- nothing --></r>",
    b"<q/>",
]
BAD = [b"", b"<r><a></r>", b"<r>", b"<r>\xff</r>", b"<p:r/>"]

Damage = Callable[[bytes], bytes | None]


def index_of(*texts: str, limits: DocumentLimits | None = None) -> Index:
    return Index(((text, text) for text in texts), namespaces=NAMESPACES, limits=limits)


def flipped(structure: bytes) -> bytes:
    return structure[:-7] + bytes([structure[-7] ^ 0x41]) + structure[-6:]


DAMAGES: dict[str, Damage] = {
    "whole": lambda structure: structure,
    "missing": lambda structure: None,
    "truncated": lambda structure: structure[: len(structure) // 2],
    "altered": flipped,
    "empty": lambda structure: b"",
    "text": lambda structure: b"<r/>",
    "of another format": lambda structure: b"\x09" + structure[1:],
    "with unknown names": lambda structure: Index().structure(b"<r/>", NameTable((("", "r"),))),
}


def archive(
    spark: SparkSession, folder: Path, bodies: list[bytes | None], damages: list[str]
) -> tc.Documents:
    """A table of documents with structures, some of them damaged, in several row groups."""
    index, made = Index(), []
    for body, damage in zip(bodies, cycle(damages), strict=False):
        try:
            made.append(DAMAGES[damage](index.structure(body or b"")))
        except DocumentError:
            made.append(None)
    columns = {
        "doc_id": pa.array([f"d{number:04}" for number in range(len(bodies))]),
        "body": pa.array(bodies, pa.binary()),
        "structure": pa.array(made, pa.binary()),
    }
    folder.mkdir()
    parquet.write_table(pa.table(columns), folder / "1.parquet", row_group_size=7)
    return tc.read(spark, str(folder), format="parquet")


def answers(hits: DataFrame) -> dict[str, Any]:
    rows = hits.collect()
    return {row.doc_id: (row.matches, row.undecided, row.error, row.index_version) for row in rows}


@pytest.mark.parametrize("damages", [["whole"], list(DAMAGES)], ids=["whole", "damaged"])
def test_answers_are_those_of_the_bodies(spark: SparkSession, tmp_path: Path, damages: list[str]) -> None:
    """Values, counts, positions, negation, unions and namespaces; whoever reads the documents."""
    index = index_of(*STRUCTURAL, *OTHERS)
    docs = archive(spark, tmp_path / "archive", [*BODIES, *BAD, None] * 5, damages)
    assert docs.worker_reading() is not None
    read = {row.doc_id: row for row in tc.match(docs, index).collect()}
    for table in (docs, docs.select("*")):
        hits = tc.match(table, index, structure="structure")
        assert hits.schema == tc.match(docs, index).schema
        assert answers(hits) == answers(tc.match(docs, index))
        for row in hits.collect():
            assert row.structure == read[row.doc_id].structure
            assert row.body == (read[row.doc_id].body if row.matches or row.error else None)
        assert {row.doc_id for row in tc.dead_letters(hits).collect()} == {
            id for id, row in read.items() if row.error is not None
        }
        delivered = tc.deliveries(hits, index).select("delivery_id", "content")
        expected = tc.deliveries(tc.match(docs, index), index).select("delivery_id", "content")
        assert sorted(delivered.collect()) == sorted(expected.collect())


def test_generated_documents_and_shards(spark: SparkSession, tmp_path: Path) -> None:
    """Shards see the structures one after the other, and every position is that of one index."""
    graph = news()
    texts = [*generate_subscriptions(graph, 150, presets.BRANCHING)]
    texts += [*generate_subscriptions(graph, 30, presets.VALUES)]
    index = Index((str(number), text) for number, text in enumerate(texts))
    bodies = list(generate_documents(graph, 40, DocumentOptions(seed=5)))
    docs = archive(spark, tmp_path / "archive", [*bodies, *BAD], ["whole", "whole", "missing", "altered"])
    expected = {id: (row[0], row[2]) for id, row in answers(tc.match(docs, index)).items()}
    rows = [Subscription(str(id), render(index.pattern(id)), "s") for id in index.ids]
    shards = [
        IndexVersion.write(tmp_path, f"v{start}", rows[start : start + 70])
        for start in range(0, len(rows), 70)
    ]
    for each in (index, shards):
        hits = tc.match(docs, each, structure="structure", seconds="seconds")
        assert {id: (row[0], row[2]) for id, row in answers(hits).items()} == expected
        assert all(row.seconds > 0 for row in hits.collect())
    assert any(matches for matches, _ in expected.values())


def test_made_structures_are_those_of_the_index(spark: SparkSession, tmp_path: Path) -> None:
    """Null for documents that cannot be read; all other columns stay; a column of that name is replaced."""
    docs = archive(spark, tmp_path / "archive", [*BODIES, *BAD, None], ["altered"])
    index = Index()
    for table in (docs, docs.select("*"), docs.withColumn("body", F.col("body").cast("string"))):
        made = {row.doc_id: row for row in tc.structures(table).collect()}
        assert made[min(made)].__fields__ == ["doc_id", "body", "structure"]
        for number, body in enumerate([*BODIES, *BAD, None]):
            structure = made[f"d{number:04}"].structure
            if body in BAD or body is None:
                assert structure is None
            else:
                assert structure == index.structure(body)
    deep = tc.structures(docs, limits=DocumentLimits(depth=1)).where("structure is not null").collect()
    assert {bytes(row.body) for row in deep} == {BODIES[6], BODIES[7]}
    (named,) = tc.structures(docs, column="s.t", attributes="names").where("doc_id = 'd0000'").collect()
    assert named["s.t"] == index.structure(BODIES[0], attributes="names")


def test_what_a_record_inherits_is_in_its_structure(spark: SparkSession, tmp_path: Path) -> None:
    """The namespaces and entities of the file that a record was cut from."""
    records = b"<!DOCTYPE r [<!ENTITY e '<p:b/>'>]><r xmlns:p='urn:p'><x><p:a/>&e;</x><x><a/></x></r>"
    (tmp_path / "records.xml").write_bytes(records)
    docs = tc.read(spark, str(tmp_path / "records.xml"), format="records", options={"record": "x"})
    made = tc.structures(docs)
    index = index_of("//p:a", "//a", "//p:b")
    found = tc.match(made, index, structure="structure").orderBy("doc_id")
    assert [row.matches for row in found.collect()] == [[0, 2], [1]]
    without = tc.match_structures(made, index).orderBy("doc_id")
    assert [(row.matches, row.open) for row in without.collect()] == [([0, 2], []), ([1], [])]


def test_names_of_a_table_are_in_the_metadata_of_the_column(spark: SparkSession, tmp_path: Path) -> None:
    """The table survives Parquet; where it is lost, the documents are read."""
    names = NameTable((("", "r"), ("", "a"), ("urn:p", "e")))
    docs = archive(spark, tmp_path / "archive", [*BODIES], ["missing"])
    tc.structures(docs, names=names).write.parquet(str(tmp_path / "named"))
    named = tc.read(spark, str(tmp_path / "named"), format="parquet")
    index = index_of(*STRUCTURAL)
    expected = answers(tc.match(docs, index))
    rows = {row.doc_id: row for row in tc.match_structures(named, index).collect()}
    assert {id: row.matches for id, row in rows.items()} == {id: row[0] for id, row in expected.items()}
    assert bytes(rows["d0000"].structure) == Index().structure(BODIES[0], names)
    (tmp_path / "a.dtd").write_text("<!ELEMENT r (a|b)*><!ELEMENT a ANY><!ELEMENT b EMPTY>")
    by_schema = tc.structures(docs, names=read_dtd(tmp_path / "a.dtd"))
    shorter = Index().structure(BODIES[0], NameTable((("", "a"), ("", "b"), ("", "r"))))
    assert bytes(by_id(by_schema)["d0000"].structure) == shorter
    assert answers(tc.match(by_schema, index, structure="structure")) == expected
    lost = named.select("doc_id", "body", F.col("structure").alias("structure", metadata={}))
    assert {row.error.code for row in tc.match_structures(lost, index).collect()} == {"unknown-names"}
    assert answers(tc.match(lost, index, structure="structure")) == expected


def test_bodies_are_not_read_if_structures_decide(spark: SparkSession, tmp_path: Path) -> None:
    """The bytes of the bodies in the file are overwritten, and nobody notices."""
    index, other = index_of(*STRUCTURAL), index_of(*STRUCTURAL, "/r[count(b) > 1]")
    docs = archive(spark, tmp_path / "archive", [body for body in BODIES for _ in range(200)], ["whole"])
    expected = answers(tc.match(docs, index))
    path = tmp_path / "archive" / "1.parquet"
    content = bytearray(path.read_bytes())
    metadata = parquet.ParquetFile(path).metadata
    for group in range(metadata.num_row_groups):
        column = metadata.row_group(group).column(1)
        assert column.path_in_schema == "body"
        start = column.dictionary_page_offset or column.data_page_offset
        content[start : start + column.total_compressed_size] = b"\xee" * column.total_compressed_size
    path.write_bytes(content)
    (path.parent / ".1.parquet.crc").unlink(missing_ok=True)
    docs = tc.read(spark, str(path.parent), format="parquet")
    hits = tc.match(docs, index, structure="structure", bodies="failed")
    assert answers(hits) == expected
    assert {row.body for row in hits.collect()} == {None}
    assert {id: row.matches for id, row in by_id(tc.match_structures(docs, index)).items()} == {
        id: row[0] for id, row in expected.items()
    }
    for needed in (
        tc.match(docs, index),
        tc.match(docs, index, structure="structure"),
        tc.match(docs, other, structure="structure", bodies="failed"),
    ):
        with pytest.raises(Exception, match="cannot be read"):
            needed.collect()


def test_bodies_are_read_up_to_the_last_that_is_needed(spark: SparkSession, tmp_path: Path) -> None:
    """Only some documents in some row groups are open."""
    bodies = [b"<q/>"] * 100
    for number in (3, 20, 21, 68, 99):
        bodies[number] = b"<r><b/><b n='%d'/></r>" % number
    docs = archive(spark, tmp_path / "archive", bodies, ["whole"])
    index = index_of("/r[count(b) > 1]", "/r/b")
    for kept in ("matching", "failed"):
        hits = by_id(tc.match(docs, index, structure="structure", bodies=kept))
        assert [hits[f"d{number:04}"].matches for number in (2, 3, 99)] == [[], [0, 1], [0, 1]]
        found = {id: bytes(row.body) for id, row in hits.items() if row.body is not None}
        wanted = {f"d{n:04}": body for n, body in enumerate(bodies) if body != b"<q/>"}
        assert found == (wanted if kept == "matching" else {})


def by_id(hits: DataFrame) -> dict[str, Any]:
    return {row.doc_id: row for row in hits.collect()}


def test_matching_structures_alone_reads_no_body(spark: SparkSession, tmp_path: Path) -> None:
    """Certain matches, open ones and errors; what is left open is matched by a second pass."""
    index = index_of(*STRUCTURAL, *OTHERS)
    docs = archive(spark, tmp_path / "archive", [*BODIES, *BAD], ["whole", "whole", "altered"])
    found = tc.match_structures(docs, index)
    plan = found._jdf.queryExecution().executedPlan().toString()
    assert "ReadSchema: struct<doc_id:string,structure:binary>" in plan
    assert "body" not in found.columns
    rows = by_id(found)
    expected = answers(tc.match(docs, index))
    for number, body in enumerate(BODIES):
        row = rows[f"d{number:04}"]
        if number % 3 == 2:
            assert (row.matches, row.open, row.error.code) == (None, None, "structure")
        else:
            answer = index.match_structure(index.structure(body))
            assert (row.matches, row.open, row.error) == (list(answer.positions), list(answer.open), None)
            assert {*row.matches} <= {*expected[row.doc_id][0]} <= {*row.matches, *row.open}
    assert rows["d0008"].error.message == "the document has no structure"
    rest = found.where("error is not null or size(open) > 0").select("doc_id")
    more = tc.match(docs.join(rest, "doc_id", "left_semi"), index)
    both = {row.doc_id: row.matches for row in found.where("size(open) = 0").collect()}
    both |= {row.doc_id: row.matches for row in more.collect()}
    assert both == {id: row[0] for id, row in expected.items()}


def test_matching_structures_alone_with_shards(spark: SparkSession, tmp_path: Path) -> None:
    """Positions continue from shard to shard, and a damaged structure has one error."""
    docs = archive(spark, tmp_path / "archive", [*BODIES], ["whole", "altered"])
    whole, shards = index_of(*STRUCTURAL, *OTHERS), [index_of(*STRUCTURAL), index_of(*OTHERS)]
    columns = ["doc_id", "matches", "open", "error"]
    one = tc.match_structures(docs.dataframe, whole).select(*columns).orderBy("doc_id")
    several = tc.match_structures(docs, shards).select(*columns).orderBy("doc_id")
    assert one.collect() == several.collect()


def test_a_structure_is_trusted_like_the_body_beside_it(spark: SparkSession) -> None:
    """The structure of another document cannot be noticed, because the body is not read."""
    index = index_of("//a", "//b")
    rows = [("d", bytearray(b"<r><a/></r>"), bytearray(index.structure(b"<r><b/></r>")))]
    docs = spark.createDataFrame(rows, "doc_id string, body binary, structure binary")
    (hit,) = tc.match(docs, index, structure="structure").collect()
    assert hit.matches == [1]


def test_a_document_that_matches_must_be_there_and_within_the_limit(spark: SparkSession) -> None:
    """A missing body, and one that is too large, are errors, as they are without structures."""
    index = index_of("//b")
    structure = bytearray(index.structure(b"<r><b/></r>"))
    rows = [("missing", None, structure), ("large", bytearray(b"<r><b/>" + b" " * 90 + b"</r>"), structure)]
    rows += [(None, bytearray(b"<r><b/></r>"), structure)]
    docs = spark.createDataFrame(rows, "doc_id string, body binary, structure binary")
    limits = DocumentLimits(bytes=50)
    hits = tc.match(docs, index, structure="structure", limits=limits).collect()
    assert sorted(hits) == sorted(tc.match(docs, index, limits=limits).collect())
    assert {hit.error.code for hit in hits if hit.error} == {"empty", "too-large"}


def test_wrong_columns_and_options_are_refused(spark: SparkSession) -> None:
    """Before a job is started, and in one sentence."""
    docs = spark.createDataFrame([("d", "<a/>", 1)], "doc_id string, body string, number int")
    index = index_of("//a")
    with pytest.raises(StageError, match="structure is missing from doc_id, body, number"):
        tc.match(docs, index, structure="structure")
    with pytest.raises(StageError, match="expected structures, which are bytes, in number, found int"):
        tc.match_structures(docs, index, structure="number")
    made = tc.structures(docs)
    with pytest.raises(StageError, match="expected bodies to be matching or failed, got 'all'"):
        tc.match(made, index, structure="structure", bodies="all")  # type: ignore[arg-type]
    with pytest.raises(StageError, match="either structure or mediation"):
        tc.match(made, index, structure="structure", mediation=[])
    with pytest.raises(StageError, match="expected attributes to be count or names, got 'all'"):
        tc.structures(docs, attributes="all")  # type: ignore[arg-type]
    (hit,) = tc.match(made.withColumnRenamed("structure", "a.b"), index, structure="a.b").collect()
    assert (hit.matches, bytes(hit["a.b"])) == ([0], index.structure(b"<a/>"))


# Without Spark

TREES = st.recursive(
    st.builds(lambda name: f"<{name}/>", st.sampled_from("abcd")),
    lambda inner: st.builds(
        lambda name, x, inner: f"<{name} x='{x}'>{''.join(inner)}t</{name}>",
        st.sampled_from("rabcd"),
        st.integers(0, 9),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)
ROWS = st.lists(st.tuples(TREES | st.just("<r"), st.sampled_from([*DAMAGES])), min_size=1, max_size=12)
MIXED = index_of(*STRUCTURAL, *OTHERS)


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_any_batch_is_completed_to_the_answer_of_the_bodies(rows: list[tuple[str, str]]) -> None:
    """Whichever structures are damaged, and whichever documents cannot be read."""
    bodies, made = [body.encode() for body, _ in rows], []
    for body, (_, damage) in zip(bodies, rows, strict=True):
        made.append(None if body == b"<r" else DAMAGES[damage](MIXED.structure(body)))
    choose = StructureChoice(MIXED, StructureColumn("structure", None), Keeping())
    batch = pa.RecordBatch.from_pydict(
        {"doc_id": pa.array(["d"] * len(rows)), "structure": pa.array(made, pa.binary())}
    )
    answered, needed = choose(batch)
    expected = MIXED.match_batch(pa.array(bodies, pa.binary()))
    read = [body if wanted else None for body, wanted in zip(bodies, needed.to_pylist(), strict=True)]
    answered = answered.append_column("body", pa.array(read, pa.binary()))
    decided = StructureAnswers.of(answered, DocumentLimits(), "matching")
    found = decided.completed(MIXED, answered.column("body"))
    assert found.matches.to_pylist() == expected.matches.to_pylist()
    assert [error and error.code for error in found.errors] == [e and e.code for e in expected.errors]


def test_structures_that_leave_most_documents_open_are_not_looked_at() -> None:
    """Reading everything is then faster; after a while it is tried again."""
    index = index_of("//a[@x='1']")
    choose = StructureChoice(index, StructureColumn("structure", None), Keeping())
    useless, good = index.structure(b"<a x='2'/>"), index.structure(b"<b/>")

    def is_open(structure: bytes, rows: int) -> set[bool]:
        structures = pa.array([structure] * rows, pa.binary())
        batch = pa.RecordBatch.from_pydict({"doc_id": pa.array(["d"] * rows), "structure": structures})
        return set(choose(batch)[1].to_pylist())

    assert is_open(good, 300) == {False}
    assert is_open(useless, 300) == {True}
    assert is_open(good, 3000) == {True}
    assert is_open(good, 3000) == {True}
    assert is_open(good, 3000) == {False}


@pytest.mark.parametrize("value", ["text", [1], ["a"], ["\fa", "\fa"]], ids=str)
def test_metadata_of_somebody_else_is_no_table_of_names(spark: SparkSession, value: Any) -> None:
    """Structures that need a table are then refused, and their documents are read."""
    docs = spark.createDataFrame([("d", bytearray(b"x"))], "doc_id string, structure binary")
    other = docs.withMetadata("structure", {"twigcast.names": value})
    assert other.schema["structure"].metadata == {"twigcast.names": value}
    assert StructureColumn.of(other, "structure").names is None
