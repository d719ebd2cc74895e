"""The one door to private parts of PySpark, Spark, Hadoop and the JVM.

Every use of something that is private or undocumented stands in this sub-room, has an entry in
``private_api``, and has a fallback that uses public interfaces only: without the private part
everything still works, perhaps more slowly.  Names that begin with an underscore, and ``py4j``, appear
nowhere else in the package; a test checks that.

This page imports nothing, because workers import modules of this sub-room by name.
"""

__all__: list[str] = []
