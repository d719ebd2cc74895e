"""A mapping as an XSLT 1.0 stylesheet, for programs that rewrite documents themselves.

    source ──► read ──► operator 1 ──► … ──► operator n ──► write ──► image

Between the first and the last step, an element is an ``e`` and an attribute an ``a`` before its content:

    <p:Course nr="7">XML</p:Course>
    <e k="1" n="Course" u="urn:p" o="urn:p" p="p"><a k="3" n="nr" u="" o="" p="" v="7"/>XML</e>

    k   the number of its schema node, empty if no operator names it
    n   its local name now          u   its namespace now
    o   its namespace in the source, and p its prefix there, which it keeps while the namespace is the same

Each operator is a mode of templates, and a variable has the tree that it leaves (EXSLT ``node-set``).
An image may have several roots: the stylesheet then writes a forest, or, if the parameter ``wrapper`` is set,
all in one element of that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from twigcast.rewriting.labels import QName
from twigcast.rewriting.mapping import Mapping
from twigcast.rewriting.operators import (
    AppliedOperator,
    Downgrade,
    Exchange,
    Hide,
    Insert,
    InsertAll,
    InsertEach,
    Keys,
    Rename,
    ToElement,
    Upgrade,
    UpgradeAll,
    was_attribute_of,
)
from twigcast.rewriting.places import NamedPlace

_HEAD = """\
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:exsl="http://exslt.org/common" exclude-result-prefixes="exsl">
<xsl:output method="xml" encoding="UTF-8"/>
<xsl:param name="wrapper" select="''"/>
"""
_WRITE = """\
<xsl:template name="prefix">
  <xsl:if test="@p != '' and @u = @o"><xsl:value-of select="concat(@p, ':')"/></xsl:if>
</xsl:template>
<xsl:template match="e" mode="write">
  <xsl:variable name="prefix"><xsl:call-template name="prefix"/></xsl:variable>
  <xsl:element name="{$prefix}{@n}" namespace="{@u}">
    <xsl:apply-templates select="node()" mode="write"/>
  </xsl:element>
</xsl:template>
<xsl:template match="a" mode="write">
  <xsl:variable name="prefix"><xsl:call-template name="prefix"/></xsl:variable>
  <xsl:attribute name="{$prefix}{@n}" namespace="{@u}"><xsl:value-of select="@v"/></xsl:attribute>
</xsl:template>
<xsl:template match="comment()|processing-instruction()" mode="write"><xsl:copy/></xsl:template>
"""
_NAMES = """\
<xsl:attribute name="n"><xsl:value-of select="local-name()"/></xsl:attribute>
    <xsl:attribute name="u"><xsl:value-of select="namespace-uri()"/></xsl:attribute>
    <xsl:attribute name="o"><xsl:value-of select="namespace-uri()"/></xsl:attribute>
    <xsl:attribute name="p"><xsl:value-of select="substring-before(name(), ':')"/></xsl:attribute>"""
_ANYTHING = "@*|node()"
_CONTENT = "node()[not(self::a)]"


def to_xslt(mapping: Mapping) -> str:
    """The stylesheet of a mapping; raises ``MappingError`` for an operator that cannot be applied.

    It writes the image of a document of the source.  A document with another root element is written as it
    is, and the limit on copies is left to the program that runs the stylesheet.
    """
    return _Stylesheet(mapping).text()


class _Stylesheet:
    def __init__(self, mapping: Mapping) -> None:
        self.mapping = mapping
        self.places = mapping.places
        self.numbers: dict[str, int] = {}
        for number, place in enumerate(self.places):
            if place.key is not None:
                self.numbers[place.key] = number
        for place in self.places:
            for key in place.attributes.values():
                self._number(key)

    def text(self) -> str:
        passes = [self._templates(applied, f"o{at}") for at, applied in enumerate(self.mapping.applied, 1)]
        return "\n".join([_HEAD + self._main(len(passes)), self._reading(), *passes, _WRITE]) + (
            "</xsl:stylesheet>\n"
        )

    def _main(self, passes: int) -> str:
        lines = ['<xsl:template match="/">', _variable(0, _apply("node()", "read"))]
        for at in range(1, passes + 1):
            lines.append(_variable(at, _apply(f"exsl:node-set($t{at - 1})/node()", f"o{at}")))
        written = _apply(f"exsl:node-set($t{passes})/node()", "write")
        lines += [
            "  <xsl:choose>",
            f"""    <xsl:when test="$wrapper = ''">{written}</xsl:when>""",
            f'    <xsl:otherwise><xsl:element name="{{$wrapper}}">{written}</xsl:element></xsl:otherwise>',
            "  </xsl:choose>",
            "</xsl:template>",
        ]
        return "\n".join(lines)

    # The source

    def _reading(self) -> str:
        """Templates that number the elements and attributes that operators name."""
        named = " or ".join(f"$place = {n}" for n, each in enumerate(self.places) if each.key is not None)
        return f"""\
<xsl:template match="*" mode="read">
  <xsl:param name="above" select="'none'"/>
  <xsl:variable name="place"><xsl:choose>
    <xsl:when test="$above = 'none'">
      <xsl:if test={_quoted(_is(self.mapping.source.root.label))}>0</xsl:if>
    </xsl:when>
    <xsl:otherwise>{_choice("$above", map(_child_places, self.places))}</xsl:otherwise>
  </xsl:choose></xsl:variable>
  <e>
    <xsl:attribute name="k"><xsl:if test="{named}"><xsl:value-of select="$place"/></xsl:if></xsl:attribute>
    {_NAMES}
    <xsl:for-each select="@*"><a>
    <xsl:attribute name="k">{_choice("$place", map(self._attribute_keys, self.places))}</xsl:attribute>
    {_NAMES}
    <xsl:attribute name="v"><xsl:value-of select="."/></xsl:attribute></a></xsl:for-each>
    <xsl:apply-templates select="node()" mode="read">
      <xsl:with-param name="above" select="string($place)"/>
    </xsl:apply-templates>
  </e>
</xsl:template>
<xsl:template match="text()" mode="read"><xsl:value-of select="."/></xsl:template>
<xsl:template match="comment()|processing-instruction()" mode="read"><xsl:copy/></xsl:template>
"""

    def _attribute_keys(self, place: NamedPlace) -> list[tuple[QName, int]]:
        return [(label, self.numbers[key]) for label, key in place.attributes.items()]

    # Operators

    def _number(self, key: str) -> int:
        return self.numbers.setdefault(key, len(self.places) + len(self.numbers))

    def _kind(self, *keys: str) -> str:
        """A test for an element or attribute with one of these keys."""
        return " or ".join(f"@k = {self._number(key)}" for key in keys) or "false()"

    def _templates(self, applied: AppliedOperator, mode: str) -> str:
        same = f"<xsl:copy>{_apply(_ANYTHING, mode)}</xsl:copy>"
        return _template(_ANYTHING, mode, same) + self._special(applied, mode, same)

    def _special(self, applied: AppliedOperator, mode: str, same: str) -> str:
        operator = applied.operator
        x = f"e[{self._kind(operator.node)}]"
        match operator:
            case Rename(node, label):
                return self._renaming(node, label, mode)
            case Hide(node):
                return _template(f"{x}|a[{self._kind(node)}]", mode, "")
            case ToElement(node, label):
                return self._making_element(node, label, mode)
            case Insert(_, path, members):
                s = f"e[{self._kind(*members)}]"
                made = self._path(applied.made, path, _apply(s, mode))
                rest = _apply(f"@*|node()[not(self::{s})]", mode)
                return _template(f"{x}[{s}]", mode, f"<xsl:copy>{rest}{made}</xsl:copy>")
            case InsertEach(_, path, members):
                made = self._path(applied.made, path, same)
                return _template(f"{x}/e[{self._kind(*members)}]", mode, made)
            case InsertAll(_, path):
                made = self._path(applied.made, path, _apply(_CONTENT, mode))
                return _template(
                    f"{x}[{_CONTENT}]", mode, f"<xsl:copy>{_apply('@*|a', mode)}{made}</xsl:copy>"
                )
            case Upgrade() | UpgradeAll():
                s = f"e[{self._kind(*operator.members)}]" if isinstance(operator, Upgrade) else "e"
                rest = _apply(f"@*|node()[not(self::{s})]", mode)
                return _template(x, mode, f"<xsl:copy>{rest}</xsl:copy>{_apply(s, mode)}")
            case Downgrade(_, members, into):
                s, f = f"e[{self._kind(*members)}]", f"e[{self._kind(into)}]"
                holder = f"<xsl:copy>{_apply(_ANYTHING, mode)}{_apply('$moved', mode)}</xsl:copy>"
                made = self._holder(into, applied.label, _apply("$moved", mode))
                body = f"""<xsl:variable name="moved" select="{s}"/><xsl:copy>
    {_apply(f"@*|node()[not(self::{s} or self::{f})]", mode)}
    <xsl:for-each select="{f}">{holder}</xsl:for-each>
    <xsl:if test="$moved and not({f})">{made}</xsl:if></xsl:copy>"""
                return _template(x, mode, body)
            case Exchange(_, above):
                f = f"e[{self._kind(above)}]"
                rest = f"<xsl:copy>{_apply(f'@*|node()[not(self::{f})]', mode)}</xsl:copy>"
                inner = _apply("$x", f"{mode}-rest")
                holder = f"<xsl:copy>{_apply('@*|a', mode)}{inner}{_apply(_CONTENT, mode)}</xsl:copy>"
                made = self._holder(above, applied.label, inner)
                body = f"""<xsl:variable name="x" select="."/>
    <xsl:for-each select="{f}">{holder}</xsl:for-each>
    <xsl:if test="not({f})">{made}</xsl:if>"""
                return _template(x, mode, body) + _template(x, f"{mode}-rest", rest)

    def _renaming(self, node: str, label: QName, mode: str) -> str:
        kind = self._kind(node)
        twin = f"a[@n = {_literal(label.local)} and @u = {_literal(label.namespace)}]"
        text = _template(f"a[not({kind})][self::{twin}][../a[{kind}]]", mode, "")
        for name, value in (("n", label.local), ("u", label.namespace)):
            new = f'<xsl:attribute name="{name}">{escape(value)}</xsl:attribute>'
            text += _template(f"e[{kind}]/@{name}|a[{kind}]/@{name}", mode, new)
        return text

    def _making_element(self, node: str, label: QName, mode: str) -> str:
        element = node[: node.rindex("/@")]
        kind = self._kind(node)
        made = self._holder(node, label, f'<xsl:value-of select="a[{kind}]/@v"/>')
        first = [key for key in self.numbers if was_attribute_of(element, key)]
        other = f"not(self::a or self::e[{self._kind(*first)}])"  # content that was not an attribute
        leading = f"e[{self._kind(*first)}][not(preceding-sibling::node()[{other}])]"
        rest = f"node()[not(self::a)][{other} or preceding-sibling::node()[{other}]]"
        body = f"""<xsl:copy>{_apply(f"@*|a[not({kind})]", mode)}{_apply(leading, mode)}
    {made}{_apply(rest, mode)}</xsl:copy>"""
        return _template(f"e[{self._kind(element)}][a[{kind}]]", mode, body)

    def _path(self, keys: Keys, path: Sequence[QName], content: str) -> str:
        for key, label in zip(reversed(keys), reversed(path), strict=True):
            content = self._holder(key, label, content)
        return content

    def _holder(self, key: str, label: QName | None, content: str) -> str:
        """An element that an operator makes."""
        assert label is not None
        n, u = (_quoted(value.replace("{", "{{").replace("}", "}}")) for value in reversed(label))
        return f'<e k="{self._number(key)}" n={n} u={u} o="" p="">{content}</e>'


def _variable(at: int, content: str) -> str:
    return f'  <xsl:variable name="t{at}">{content}</xsl:variable>'


def _apply(select: str, mode: str) -> str:
    return f'<xsl:apply-templates select={_quoted(select)} mode="{mode}"/>'


def _template(match: str, mode: str, body: str) -> str:
    priority = int(match != _ANYTHING)
    return f'<xsl:template match={_quoted(match)} mode="{mode}" priority="{priority}">{body}</xsl:template>\n'


def _choice(value: str, tables: Iterable[Iterable[tuple[QName, int]]]) -> str:
    """Chooses a table by a number, and in it a number by the name of the current node."""
    cases: list[str] = []
    for number, table in enumerate(tables):
        inner = "".join(f"<xsl:when test={_quoted(_is(label))}>{to}</xsl:when>" for label, to in table)
        if inner:
            cases.append(f'<xsl:when test="{value} = {number}"><xsl:choose>{inner}</xsl:choose></xsl:when>')
    return f"<xsl:choose>{''.join(cases)}</xsl:choose>" if cases else ""


def _child_places(place: NamedPlace) -> list[tuple[QName, int]]:
    return list(place.children.items())


def _is(label: QName) -> str:
    return f"local-name() = {_literal(label.local)} and namespace-uri() = {_literal(label.namespace)}"


def _literal(text: str) -> str:
    """A string of XPath, which has no escapes."""
    if "'" not in text:
        return f"'{text}'"
    if '"' not in text:
        return f'"{text}"'
    return "concat(" + ', "\'", '.join(f"'{piece}'" for piece in text.split("'")) + ")"


def _quoted(text: str) -> str:
    return quoteattr(text)
