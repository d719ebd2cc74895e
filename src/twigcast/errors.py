"""What can go wrong, as values.

Every error carries a stable ``code`` for machines, a sentence for people, and the place where it
happened.  A batch never stops at one of them: it collects them and goes on.

    TwigcastError
    ├── PatternError      a subscription outside the language: text, column, what was expected
    ├── DocumentError     a document that cannot be read: line, column, byte offset
    ├── StructureError    bytes that are not the structure of a document, or of one beyond a limit
    ├── EvaluationError   a subscription that takes too many steps to decide on a document
    ├── IndexFileError    an index file that is truncated, altered, or of another version
    ├── SubscriptionError an id that is unknown, or already there
    ├── SchemaError       a schema that cannot be read, or used for what was asked
    ├── FragmentError     fragments that do not fit together, or a file that holds none: document, number
    ├── ChunkingError     a query or a plan that cannot be used to cut a document
    ├── RoutingError      a router, a network or a scenario asked for what it cannot do: the name at fault
    ├── SourceError       a file of subscriptions or documents that cannot be read: path, line
    ├── PipelineError     a pipeline file that cannot be used: path, key, what was expected there
    ├── StageError        a stage of a pipeline that cannot run on what it was given
    ├── RunError          a pipeline that was begun and failed: what Spark complained of
    └── ExtraError        a part of twigcast whose libraries are not installed: the extra to install
"""

from __future__ import annotations

from collections.abc import Hashable


class TwigcastError(Exception):
    """Anything twigcast refuses, with a stable ``code`` and a ``message`` that says what to do."""

    code: str = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), self.args, self.__dict__)  # errors travel to workers and back


class PatternError(TwigcastError):
    """A subscription outside the language, with the column (from 1) and what was expected there.

    ``hint`` says how to repair it, where that is not obvious; of XPath that is outside the language,
    ``expected`` is the accepted way to write it.

    Codes: ``syntax`` (not XPath), ``unsupported`` (XPath, but outside the language), ``unbound-prefix`` (a
    prefix that is bound to no namespace), ``never-matches`` (no document can satisfy it), ``too-complex``
    (beyond a limit), ``character`` (one that XML does not allow).
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        text: str,
        column: int,
        expected: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.text = text
        self.column = column
        self.expected = expected
        self.hint = hint

    def __str__(self) -> str:
        hint = self.hint
        if self.code == "unsupported" and self.expected and self.expected not in self.message:
            hint = f"expected {self.expected}"
        place = f"{self.message} at column {self.column}"
        return f"{place}: {hint}" if hint else place


class DocumentError(TwigcastError):
    """A document that cannot be read, with line and column (both from 1) and byte offset (from 0).

    Codes: ``malformed`` (not well-formed), ``truncated`` (it ends too early), ``encoding`` (bytes that its
    encoding does not have, or an unknown encoding), ``empty`` (nothing but white space), ``too-large`` (more
    bytes than the limit), ``too-deep`` (elements nested deeper than the limit), ``too-many-attributes``
    (more of them on an element than the limit), ``too-costly`` (matching it takes too many steps),
    ``entity-expansion`` (its entities expand beyond a limit), ``external-entity`` (it refers to something
    outside, which is never read), ``undeclared-entity`` (it refers to an entity without a declaration),
    ``namespace`` (a prefix without a declaration, or a wrong one), ``rewriting-expansion`` (a mapping copies
    too much of it), ``no-mapping`` (its root element has no mapping), ``parts-too-large`` (the document can
    be read, but the parts that a subscription selects exceed a limit).
    """

    def __init__(self, message: str, *, code: str, line: int = 1, column: int = 1, offset: int = 0) -> None:
        super().__init__(message, code=code)
        self.line = line
        self.column = column
        self.offset = offset

    def __str__(self) -> str:
        return f"{self.message} at line {self.line}, column {self.column}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DocumentError) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, str, int, int, int]:
        return self.code, self.message, self.line, self.column, self.offset

    def __reduce__(self) -> tuple[object, ...]:
        return _document_error, self._key()


class StructureError(TwigcastError):
    """Bytes that cannot be used as the structure of a document.

    Codes: ``structure`` (truncated, altered or of another format), ``unknown-names`` (its names are those of
    a table that was not given), ``limit`` (the document is beyond a limit), ``too-costly`` (matching it takes
    too many steps), ``no-structure`` (a document has none: it would be beyond a limit, or a mapping gives the
    document several root elements).
    """

    code = "structure"


class PartialError(TwigcastError):
    """What parts of a document show cannot be used or joined.

    Codes: ``partial`` (bytes that are no partial of this index), ``other-version`` (of other subscriptions),
    ``common-parts`` (a part would be added twice), ``inconsistent-parts`` (parts that contradict each other),
    ``incomplete`` (parts are missing), ``body`` (the document itself is needed).
    """

    code = "partial"


class EvaluationError(TwigcastError):
    """A subscription could not be decided on a document.

    Codes: ``too-costly`` (it takes more steps than the limit ``work`` allows), ``too-large`` (it needs the
    whole document, which has more bytes than the limit and was matched in parts).
    """

    code = "too-costly"


class IndexFileError(TwigcastError):
    """An index file that cannot be used, or cannot be written.

    Codes: ``unreadable`` (the file cannot be read), ``not-an-index`` (it is of another kind), ``version``
    (it is of another format version), ``truncated`` (it ends too early), ``altered`` (its checksum or its
    content is wrong), ``too-large`` (a block of expressions has more bytes than a file can have).
    """

    code = "index-file"


class SubscriptionError(TwigcastError):
    """A subscription whose id or subscriber is at fault.

    Codes: ``unknown-id`` (there is none with the id), ``duplicate-id`` (there is one already),
    ``unsavable-id`` (it cannot be written to an index file, or it or its subscriber to a line of text),
    ``not-a-pattern`` (the id stands for a schema), ``character`` (the id or the subscriber has one that XML
    does not allow), ``too-complex`` (the subscription as a whole is larger than a limit), ``delivery``
    (what to deliver is neither "document" nor "part").
    """

    def __init__(self, message: str, *, code: str, id: Hashable) -> None:
        super().__init__(message, code=code)
        self.id = id


class SchemaError(TwigcastError):
    """A schema that cannot be read, or cannot be used for what was asked.

    Codes: ``schema`` (it is malformed, or does not have what is needed), ``unreadable`` (the file),
    ``too-complex`` (beyond a limit of ``SchemaLimits``).
    """

    code = "schema"


class MappingError(TwigcastError):
    """A mapping between schemas that cannot be used, or a document without one; ``name`` is what is at fault.

    Codes: ``place`` (a path leads nowhere in its schema), ``matching`` (pairs that contradict each other),
    ``operator`` (it cannot be applied where it stands), ``recursive`` (an operator on an element that can
    contain itself), ``mapping-file`` (a key or a schema of the file is wrong), ``mapping-rules`` (the
    canonical text of a mapping cannot be read), ``drift`` (the source schema has changed since the mapping
    was reviewed), ``duplicate-mapping`` (two have one name, or one root), ``no-mapping`` (there is none for
    the root element or publisher of a document), ``unknown-mapping`` (there is none with this name or
    hash), ``in-use`` (the global schema cannot lose a place that is subscribed to).
    """

    def __init__(self, message: str, *, code: str, name: str = "") -> None:
        super().__init__(message, code=code)
        self.name = name


class FragmentError(TwigcastError):
    """A fragment, or a set of fragments, that cannot be used.

    ``doc_id`` is the document, ``number`` the fragment at fault (0 if it is none in particular), and
    ``missing`` has the numbers of the fragments that are not there, as ranges, as far as they are known.

    Codes: ``fragment-file`` (bytes that are no fragment, truncated, or of another format version),
    ``fragment-corrupt`` (the digest is wrong), ``fragment-conflict`` (two fragments of one number that
    differ), ``fragment-inconsistent`` (headers contradict each other or the bodies), ``fragments-overlap``
    (two runs for one hole), ``fragments-missing`` (some have not come), ``fragment-late`` (it comes after the
    outcome of its document), ``fragment-header`` (the kind of header does not have what was asked for, or the
    id of the document is too long).
    """

    def __init__(
        self, message: str, *, code: str, doc_id: str = "", number: int = 0, missing: tuple[range, ...] = ()
    ) -> None:
        super().__init__(message, code=code)
        self.doc_id = doc_id
        self.number = number
        self.missing = missing

    def __reduce__(self) -> tuple[object, ...]:
        return _fragment_error, (self.code, self.message, self.doc_id, self.number, self.missing)


class ChunkingError(TwigcastError):
    """A query that cannot be used to cut a document, or run on what was cut; ``query`` is its id.

    Codes: ``query`` (it is no query), ``looks-outside`` (what it looks at cannot be cut out), ``too-wide``
    (it needs one document that is larger than the limit), ``no-schema`` (there is nothing to plan from),
    ``not-nodes`` (its result on a part is no set of nodes, so that the parts cannot be joined),
    ``query-failed`` (lxml, or a function, raised an error), ``chunk-folder`` (the folder is not empty),
    ``too-complex`` (a query is larger than a limit on subscriptions), ``too-costly`` (it takes, or with lxml
    may take, too many steps on a part); and those of ``DocumentError``, of a query on a part.
    The column is where the text of the query is at fault, from 1; 0 if that is not known.
    """

    def __init__(self, message: str, *, code: str, query: Hashable = None, column: int = 0) -> None:
        super().__init__(message, code=code)
        self.query = query
        self.column = column


class RoutingError(TwigcastError):
    """What a router or a network refuses; ``name`` is the link, id, router or key at fault.

    Codes: ``unknown-link`` (there is none with the name), ``duplicate-link`` (there is one already),
    ``unknown-id`` (nothing has the id), ``duplicate-id`` (it is taken), ``reserved-id`` (it begins as those
    that routers make), ``character`` (an id or a pattern has one that XML does not allow), ``too-complex``
    (an id is too long), ``unexpected-message`` (a link does not send such), ``annotations`` (what a router
    says about a document, or asks for, cannot be read), ``unknown-router`` (there is none with the name),
    ``duplicate-router`` (two have one name), ``cycle`` (the network is no tree), ``disconnected`` (some
    routers cannot be reached), ``strategy`` (not one, or it needs what is not there), ``router-state`` (a
    saved state cannot be read), ``scenario`` (a file does not describe a simulation).
    """

    def __init__(self, message: str, *, code: str, name: str = "") -> None:
        super().__init__(message, code=code)
        self.name = name


class SourceError(TwigcastError):
    """A file of subscriptions or documents that cannot be read; ``line`` is 0 where there is none.

    Codes: ``not-found`` (there is no such file or name), ``ambiguous`` (a short name fits several),
    ``unreadable`` (it cannot be opened or read), ``encoding`` (a line is not UTF-8), ``bad-line`` (a line
    is no subscription), ``no-documents`` (a folder has none), ``unknown-version`` (of a subscription table,
    where it was pruned or is not there yet), ``locked`` (another process keeps the subscription store
    locked), ``unwritable`` (the store or an output file cannot be written).
    """

    def __init__(self, message: str, *, code: str, path: str, line: int = 0) -> None:
        super().__init__(message, code=code)
        self.path = path
        self.line = line


class PipelineError(TwigcastError):
    """A pipeline file that cannot be used; ``key`` is empty where the file as a whole is at fault."""

    code = "pipeline-file"

    def __init__(self, message: str, *, path: str = "", key: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.key = key

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class StageError(TwigcastError):
    """A stage of a pipeline that cannot run on what it was given.

    Codes: ``no-java`` (none is found that Spark can run on), ``columns`` (a table lacks what it needs),
    ``options`` (a source does not know an option, or needs one), ``no-stream`` (a source that can be read as
    a batch only), ``no-replay`` (a source whose past documents cannot be sent again), ``index-version`` (a
    folder is no index version, or not the one that the documents were matched against),
    ``unknown-mapping`` (documents were matched with a mapping that is not among those given), ``workers``
    (the Python of Spark's workers cannot import twigcast), ``master`` (the master of Spark is none, or does
    not answer), ``format`` (Spark has no format of that name).
    In dead letters, beside the codes of ``DocumentError``: ``archive`` (an archive, a member of it, or some
    other file cannot be read), ``archive-limit`` (an archive exceeds a limit), ``unreadable`` (a file or
    folder cannot be opened), ``link`` (a link that is not followed), ``not-a-file`` (a named pipe, a socket
    or a device), ``unknown-mapping`` (the document names a mapping that is not there), ``internal`` (twigcast
    itself failed on this item; the message says where).
    """

    code = "stage"


class RunError(TwigcastError):
    """A pipeline that was begun and failed; begun again, it goes on where it was.

    Codes: ``jvm-died`` (the JVM of Spark was killed, ran out of memory or crashed), ``worker-died`` (a
    Python worker or an executor of Spark did), ``run-failed`` (anything else).
    """

    code = "run-failed"


class ExtraError(TwigcastError):
    """A part of twigcast whose libraries are not installed; ``extra`` is the name to install it by."""

    code = "missing-extra"

    def __init__(self, library: str, *, extra: str) -> None:
        super().__init__(f"{library} is not installed: pip install 'twigcast[{extra}]'")
        self.extra = extra


def _restored(kind: type[TwigcastError], args: tuple[object, ...], state: dict[str, object]) -> TwigcastError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


def _document_error(code: str, message: str, line: int, column: int, offset: int) -> DocumentError:
    return DocumentError(message, code=code, line=line, column=column, offset=offset)


def _fragment_error(
    code: str, message: str, doc_id: str, number: int, missing: tuple[range, ...]
) -> FragmentError:
    return FragmentError(message, code=code, doc_id=doc_id, number=number, missing=missing)
