"""Services of the interpreter and the operating system: files, names, hashes, imports, garbage."""

from twigcast.system.buffers import Buffer, flat_buffer, whole_bytes
from twigcast.system.document_files import (
    BROKEN_GZIP,
    DOCUMENT_ENDINGS,
    DOCUMENT_GLOB,
    GZIP_MARK,
    decompressed_body,
    decompressed_file,
    documents_below,
    foreign_format,
    is_document,
    is_hidden,
    standard_input,
)
from twigcast.system.files import atomic_file, sync_folder, write_atomically
from twigcast.system.folder_files import FoundFile, Links, Refusal, files_below, open_regular
from twigcast.system.garbage import garbage_collection_paused
from twigcast.system.lazy_names import lazy_names
from twigcast.system.local_uris import LOCAL_URI, without_scheme
from twigcast.system.name_text import name_text, path_of
from twigcast.system.stable_hash import bloom_bits
from twigcast.system.varints import append_varint, read_varint, varint

__all__ = [
    "BROKEN_GZIP",
    "DOCUMENT_ENDINGS",
    "DOCUMENT_GLOB",
    "GZIP_MARK",
    "LOCAL_URI",
    "Buffer",
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
    "flat_buffer",
    "foreign_format",
    "garbage_collection_paused",
    "is_document",
    "is_hidden",
    "lazy_names",
    "name_text",
    "open_regular",
    "path_of",
    "read_varint",
    "standard_input",
    "sync_folder",
    "varint",
    "whole_bytes",
    "without_scheme",
    "write_atomically",
]
