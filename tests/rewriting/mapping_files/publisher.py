"""A small publisher for tests: its schema, the global schema, and a mapping file between them."""

from __future__ import annotations

from pathlib import Path

SOURCE = """<!ELEMENT cmu (Course+)>
<!ELEMENT Course (Code?, Lecturer*, Day_?, Time_?, Notes?, name?)>
<!ATTLIST Course nr CDATA #IMPLIED>
<!ELEMENT Code (#PCDATA)><!ELEMENT Lecturer (#PCDATA)><!ELEMENT Day_ (#PCDATA)>
<!ELEMENT Time_ (#PCDATA)><!ELEMENT Notes (#PCDATA)><!ELEMENT name (#PCDATA)>
"""
TARGET = """<!ELEMENT catalogue (course+)>
<!ELEMENT course (code?, instructor*, schedule?)>
<!ELEMENT instructor (name*)>
<!ELEMENT schedule (days?, time?)>
<!ELEMENT code (#PCDATA)><!ELEMENT name (#PCDATA)><!ELEMENT days (#PCDATA)><!ELEMENT time (#PCDATA)>
"""
MAPPING = """# reviewed by hand
mapping = "cmu"
source = "cmu.dtd"
target = "catalogue.dtd"

[match]
"cmu" = "catalogue"
"cmu/Course" = "catalogue/course"
"cmu/Course/Code" = "catalogue/course/code"
"cmu/Course/Lecturer" = "catalogue/course/instructor/name"   # a synonym
"cmu/Course/Day_" = "catalogue/course/schedule/days"
"cmu/Course/Time_" = "catalogue/course/schedule/time"

[unmatched]
keep = ["cmu/Course/Notes", "cmu/Course/@nr"]
hide = ["cmu/Course/name"]

[[test]]
xml = "<cmu><Course><Code>15-721</Code><Lecturer>Ailamaki</Lecturer></Course></cmu>"
matches = ["//course[instructor/name='Ailamaki']"]
not = ["//course[not(code)]"]
"""
DOCUMENT = """<cmu><Course><Code>15-721</Code><Lecturer>Ailamaki</Lecturer>
<name>x</name><Time_>9</Time_></Course></cmu>"""


def publisher(folder: Path, mapping: str = MAPPING, source: str = SOURCE, target: str = TARGET) -> Path:
    """Write the three files; the path of the mapping file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cmu.dtd").write_text(source)
    (folder / "catalogue.dtd").write_text(target)
    path = folder / "cmu.toml"
    path.write_text(mapping)
    return path
