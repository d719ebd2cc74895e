"""Documents from every kind of source."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from twigcast import Index, Subscription
from twigcast import spark as tc
from twigcast.errors import StageError


def content(docs: DataFrame) -> dict[str, bytes | None]:
    rows = docs.collect()
    assert len({row.doc_id for row in rows}) == len(rows)
    return {row.doc_id: None if row.body is None else bytes(row.body) for row in rows}


def streamed(docs: DataFrame, folder: Path) -> dict[str, bytes | None]:
    """The rows of a stream that ends when all available documents are processed."""
    found: dict[str, bytes | None] = {}
    assert docs.isStreaming
    query = (
        docs.writeStream.foreachBatch(lambda batch, _: found.update(content(batch)))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    feed = tmp_path / "a feed"
    (feed / "below%20").mkdir(parents=True)
    (feed / "1.xml").write_bytes(b"<a>1</a>")
    (feed / "below%20" / "2 é.xml").write_bytes(b"<a>2</a>")
    return feed


def test_a_folder_of_files(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    """Each file below it is a document named by its path, in a batch and in a stream."""
    expected = {
        str(folder / "1.xml"): b"<a>1</a>",
        str(folder / "below%20" / "2 é.xml"): b"<a>2</a>",
    }
    assert content(tc.read(spark, str(folder))) == expected
    assert streamed(tc.read(spark, str(folder), streaming=True), tmp_path) == expected
    some = tc.read(spark, str(folder), options={"pathGlobFilter": "1*"})
    assert list(content(some)) == [str(folder / "1.xml")]
    assert list(content(tc.read(spark, str(folder / "*.xml")))) == [str(folder / "1.xml")]


def test_a_file_that_is_too_large_is_not_read(spark: SparkSession, folder: Path) -> None:
    """A file that is too large is an error with its path, and the other files are documents."""
    (folder / "big.xml").write_bytes(b"<a>" + b" " * 100 + b"</a>")
    docs = tc.read(spark, str(folder), options={"maxBytes": "50"})
    hits = tc.match(docs, Index([("s", "/a")]))
    (letter,) = tc.dead_letters(hits).collect()
    assert (letter.doc_id, letter.code, letter.body) == (str(folder / "big.xml"), "too-large", None)
    assert hits.where("size(matches) = 1").count() == 2


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """Archives of each kind; some of them broken."""
    folder = tmp_path / "packed"
    folder.mkdir()
    with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/1.xml", b"<a>zip 1</a>")
        archive.writestr("x/", b"")
        archive.writestr("2.xml", b"<a>zip 2</a>")
        archive.writestr("read.me", b"no document")
    for name, mode in (("b.tar.gz", "w:gz"), ("c.tgz", "w:gz"), ("d.tar", "w")):
        with tarfile.open(folder / name, mode) as archive:
            for number in (1, 2):
                body = b"<a>%s %d</a>" % (name.encode(), number)
                info = tarfile.TarInfo(f"x/{number}.xml")
                info.size = len(body)
                archive.addfile(info, io.BytesIO(body))
    (folder / "e.xml.gz").write_bytes(gzip.compress(b"<a>gz</a>"))
    (folder / "f.xml").write_bytes(b"<a>plain</a>")
    return folder


def test_archives(spark: SparkSession, packed: Path, tmp_path: Path) -> None:
    """Each member is a document named by archive and member, in a batch and in a stream."""
    expected = {
        f"{packed}/a.zip!x/1.xml": b"<a>zip 1</a>",
        f"{packed}/a.zip!2.xml": b"<a>zip 2</a>",
        f"{packed}/b.tar.gz!x/1.xml": b"<a>b.tar.gz 1</a>",
        f"{packed}/b.tar.gz!x/2.xml": b"<a>b.tar.gz 2</a>",
        f"{packed}/c.tgz!x/1.xml": b"<a>c.tgz 1</a>",
        f"{packed}/c.tgz!x/2.xml": b"<a>c.tgz 2</a>",
        f"{packed}/d.tar!x/1.xml": b"<a>d.tar 1</a>",
        f"{packed}/d.tar!x/2.xml": b"<a>d.tar 2</a>",
        f"{packed}/e.xml.gz!e.xml": b"<a>gz</a>",
        f"{packed}/f.xml": b"<a>plain</a>",
    }
    options = {"memberGlobFilter": "*.xml"}
    docs = tc.read(spark, str(packed), format="archives", options=options)
    assert content(docs) == expected
    stream = tc.read(spark, str(packed), format="archives", options=options, streaming=True)
    assert streamed(stream, tmp_path) == expected


def test_records(spark: SparkSession, tmp_path: Path) -> None:
    """Each record is a document named by file and offset, for any size of the pieces."""
    feed = tmp_path / "feed"
    feed.mkdir()
    head = b'<f xmlns:p="u">'
    bodies = [b'<r n="%d"><p:x>%s</p:x></r>' % (n, b"y" * (n % 50)) for n in range(400)]
    (feed / "a.xml").write_bytes(head + b"\n".join(bodies) + b"</f>")
    (feed / "b.xml.gz").write_bytes(gzip.compress(b"<f><r>b</r><r></f>"))
    (feed / "c.xml").write_bytes(("<f>" + "<r/>" * 1000 + "</f>").encode("utf-16"))
    expected = {f"{feed}/b.xml.gz#3": b"<r>b</r>", f"{feed}/b.xml.gz#11": b"<r></f>"}
    at = len(head)
    for body in bodies:
        expected[f"{feed}/a.xml#{at}"] = body
        at += len(body) + 1
    options = {"record": "r", "pieceBytes": "1000"}
    docs = tc.read(spark, str(feed), format="records", options=options)
    found = content(docs)
    assert {id: body for id, body in found.items() if body is not None} == expected
    hits = tc.match(docs, Index([("s", "/r/Q{u}x"), ("t", "/r/@n")]))
    letters = tc.dead_letters(hits).collect()
    assert {letter.doc_id: letter.code for letter in letters} == {
        f"{feed}/b.xml.gz#11": "truncated",  # the record, and with it
        f"{feed}/b.xml.gz#18": "truncated",  # the file
        f"{feed}/c.xml#0": "encoding",
    }
    assert hits.where("size(matches) = 2").count() == 400
    stream = tc.read(spark, str(feed), format="records", options=options, streaming=True)
    assert streamed(stream, tmp_path) == found


def test_errors_in_records_are_placed_in_their_bytes(spark: SparkSession, tmp_path: Path) -> None:
    """Line, column and offset of an error count from the first byte of the record."""
    file = tmp_path / "f.xml"
    file.write_bytes(b'<!DOCTYPE f [\n<!ENTITY e "x">\n]><f xmlns:p="u">\n<r>\xc3\xa9&e;\n<p:x></q></r></f>')
    hits = tc.match(tc.read(spark, str(file), format="records", options={"record": "r"}), Index())
    (letter,) = tc.dead_letters(hits).collect()
    assert (letter.code, letter.line, letter.column, letter.offset) == ("malformed", 2, 8, 16)
    assert bytes(letter.body)[letter.offset :] == b"q></r>"


def test_parts_of_records_are_their_bytes(spark: SparkSession, tmp_path: Path) -> None:
    """A part is cut from the record's own bytes, and declares the namespaces that the record inherits."""
    file = tmp_path / "f.xml"
    file.write_bytes(b'<f xmlns:p="u"><r id="1"><p:x a="b">1</p:x></r></f>')
    docs = tc.read(spark, str(file), format="records", options={"record": "r"})
    xpaths = {"all": "/r", "x": "/r/Q{u}x", "a": "//@a", "id": "/r/@id", "t": "//text()"}
    rows = [tc.Subscription(id, xpath, id, "part") for id, xpath in xpaths.items()]
    version = tc.IndexVersion.write(tmp_path / "versions", 1, rows)
    outs = tc.deliveries(tc.match(docs, version), version).collect()
    assert {row.subscriber: bytes(row.content) for row in outs} == {
        "all": b'<r xmlns:p="u" id="1"><p:x a="b">1</p:x></r>',
        "x": b'<p:x xmlns:p="u" a="b">1</p:x>',
        "a": b'a="b"',
        "id": b'id="1"',
        "t": b"1",
    }


def test_records_need_the_name_of_the_element(spark: SparkSession) -> None:
    """Without the option, a ``StageError`` says so."""
    with pytest.raises(StageError, match='option "record"'):
        tc.read(spark, "feed", format="records")


def test_a_table(spark: SparkSession, tmp_path: Path) -> None:
    """Columns for id and body are named or found; other columns stay, and text becomes bytes."""
    path = str(tmp_path / "table")
    spark.createDataFrame([("1", "<a>é</a>", 7)], "key string, xml string, n int").write.parquet(path)
    (row,) = tc.read(spark, path, format="parquet", doc_id="key", body="xml").collect()
    assert (row.doc_id, bytes(row.body), row.n) == ("1", "<a>é</a>".encode(), 7)
    stream = tc.read(spark, path, format="parquet", doc_id="key", body="xml", streaming=True)
    assert streamed(stream, tmp_path) == {"1": "<a>é</a>".encode()}
    with pytest.raises(StageError, match="expected a column xm for body, found key, xml, n"):
        tc.read(spark, path, format="parquet", body="xm")
    with pytest.raises(StageError, match="expected a column id for doc_id"):
        tc.read(spark, path, format="parquet", doc_id="id", body="xml")
    with pytest.raises(StageError, match="expected a column body"):
        tc.read(spark, path, format="parquet")


def test_a_table_without_ids(spark: SparkSession, tmp_path: Path) -> None:
    """A document without an id is named by the hash of its bytes, the same when it is read again."""
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "feed.txt").write_bytes(b"<a/>\n<b/>\n")
    docs = tc.read(spark, str(tmp_path / "lines"), format="text")
    assert sorted(content(docs).values()) == [b"<a/>", b"<b/>"]
    assert content(docs) == content(docs)


def test_a_view_of_the_catalogue(spark: SparkSession) -> None:
    """``table`` reads a table or view by its name."""
    spark.sql("select 'd' doc_id, binary('<a/>') body, 'p' publisher").createOrReplaceTempView("feed")
    (row,) = tc.read(spark, "feed", format="table").collect()
    assert tuple(row) == ("d", b"<a/>", "p")


def test_the_place_in_kafka_is_an_id(spark: SparkSession) -> None:
    """A message is named by topic, partition and offset."""
    spark.sql(
        "select binary('k') key, binary('<a/>') value, 'news' topic, 3 partition, 14L offset"
    ).createOrReplaceTempView("kafka")
    (row,) = tc.read(spark, "kafka", format="table", doc_id="doc_id", body="body").collect()
    assert (row.doc_id, bytes(row.body), bytes(row.key)) == ("news/3/14", b"<a/>", b"k")


def test_documents_in_many_encodings(spark: SparkSession, tmp_path: Path) -> None:
    """Deliveries are the publisher's bytes, whole or in part; an unknown encoding is named."""
    titles = {
        "GB2312": "中文",
        "Shift_JIS": "日本語",
        "Big5": "中文",
        "EUC-KR": "한국어",
        "windows-1251": "Новости",
        "KOI8-R": "Новости",
        "UTF-16": "é中",
    }
    feed = tmp_path / "feed"
    feed.mkdir()
    for encoding, title in titles.items():
        text = f"<?xml version='1.0' encoding='{encoding}'?><doc><t>{title}</t></doc>"
        (feed / f"{encoding}.xml").write_bytes(text.encode(encoding))
    unmarked = "<?xml version='1.0' encoding='UTF-16'?><doc><t>é中</t></doc>".encode("utf-16-be")
    (feed / "unmarked.xml").write_bytes(unmarked)
    (feed / "unknown.xml").write_bytes(b"<?xml version='1.0' encoding='klingon'?><doc/>")
    any_title = " or ".join(f". = '{title}'" for title in dict.fromkeys(titles.values()))
    wanted = [Subscription("t", f"//t[{any_title}]", "desk", "part"), Subscription("all", "/doc", "desk")]
    index = Index(wanted)
    hits = tc.match(tc.read(spark, str(feed)), index)
    rows = tc.deliveries(hits, index, parts="range").collect()
    files = {file.stem: file.read_bytes() for file in feed.glob("*.xml") if file.stem != "unknown"}
    got = {(Path(row.doc_id).stem, row.subscription): bytes(row.content) for row in rows}
    assert {name: got[name, "all"] for name in files} == files
    codecs = {"UTF-16": "utf-16-le", "unmarked": "utf-16-be"}
    parts = {name: got[name, "t"].decode(codecs.get(name, name)) for name in files}
    assert parts == {name: f"<t>{titles.get(name, 'é中')}</t>" for name in files}
    (letter,) = tc.dead_letters(hits).collect()
    assert (Path(letter.doc_id).stem, letter.code) == ("unknown", "encoding")
    assert "'klingon'" in letter.message
