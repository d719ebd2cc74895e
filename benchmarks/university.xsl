<?xml version="1.0"?>
<!-- What a person would write for the mapping `seven` of rewriting.py: each element is visited once. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:template match="@*|node()">
    <xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy>
  </xsl:template>

  <!-- Exchange: each article has a copy of its author, an author without one gets an article. -->
  <xsl:template match="author">
    <xsl:variable name="author">
      <author><xsl:apply-templates select="@*|node()[not(self::article)]"/></author>
    </xsl:variable>
    <xsl:for-each select="article">
      <article>
        <xsl:apply-templates select="@*"/>
        <xsl:copy-of select="$author"/>
        <xsl:apply-templates/>
      </article>
    </xsl:for-each>
    <xsl:if test="not(article)">
      <article><xsl:copy-of select="$author"/></article>
    </xsl:if>
  </xsl:template>

  <!-- UpgradeAll, and Rename of department. -->
  <xsl:template match="faculty">
    <faculty><xsl:apply-templates select="@*|node()[not(self::*)]"/></faculty>
    <xsl:apply-templates select="*"/>
  </xsl:template>
  <xsl:template match="department">
    <dept><xsl:apply-templates select="@*|node()"/></dept>
  </xsl:template>

  <!-- ToElement, Insert, and Downgrade into the instructors, which stand last. -->
  <xsl:template match="course">
    <course>
      <xsl:apply-templates select="@*[name() != 'code']"/>
      <code><xsl:value-of select="@code"/></code>
      <xsl:apply-templates select="node()[not(self::time|self::location|self::instructor|self::TAs)]"/>
      <xsl:if test="time|location">
        <schedule><xsl:apply-templates select="time|location"/></schedule>
      </xsl:if>
      <xsl:apply-templates select="instructor"/>
      <xsl:if test="TAs and not(instructor)">
        <instructor><xsl:apply-templates select="TAs"/></instructor>
      </xsl:if>
    </course>
  </xsl:template>
  <!-- InsertAll. -->
  <xsl:template match="instructor">
    <instructor>
      <xsl:apply-templates select="@*"/>
      <contact><xsl:apply-templates/></contact>
      <xsl:apply-templates select="../TAs"/>
    </instructor>
  </xsl:template>
</xsl:stylesheet>
