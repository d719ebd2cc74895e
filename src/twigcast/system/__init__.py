"""Services of the interpreter and the operating system: files, names, hashes, imports, garbage."""

from twigcast.system.document_files import (
    BROKEN_GZIP,
    DOCUMENT_ENDINGS,
    DOCUMENT_GLOB,
    GZIP_MARK,
    decompressed_body,
    decompressed_file,
    documents_below,
    is_document,
    is_hidden,
)
from twigcast.system.files import atomic_file, sync_folder, write_atomically
from twigcast.system.folder_files import FoundFile, Links, Refusal, files_below, open_regular
from twigcast.system.garbage import garbage_collection_paused
from twigcast.system.lazy_names import lazy_names
from twigcast.system.name_text import name_bytes, name_text, path_of
from twigcast.system.stable_hash import bloom_bits, stable_hash
from twigcast.system.varints import append_varint, read_varint

__all__ = [
    "BROKEN_GZIP",
    "DOCUMENT_ENDINGS",
    "DOCUMENT_GLOB",
    "GZIP_MARK",
    "FoundFile",
    "Links",
    "Refusal",
    "append_varint",
    "atomic_file",
    "bloom_bits",
    "decompressed_body",
    "decompressed_file",
    "documents_below",
    "files_below",
    "garbage_collection_paused",
    "is_document",
    "is_hidden",
    "lazy_names",
    "name_bytes",
    "name_text",
    "open_regular",
    "path_of",
    "read_varint",
    "stable_hash",
    "sync_folder",
    "write_atomically",
]
