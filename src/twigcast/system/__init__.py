"""Services of the interpreter and the operating system: atomic files, lazy imports, garbage collection."""

from twigcast.system.files import atomic_file, sync_folder, write_atomically
from twigcast.system.garbage import garbage_collection_paused
from twigcast.system.lazy_names import lazy_names

__all__ = ["atomic_file", "garbage_collection_paused", "lazy_names", "sync_folder", "write_atomically"]
