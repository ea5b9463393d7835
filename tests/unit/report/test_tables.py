"""Tables say the same in a page, in Markdown, in LaTeX and in CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from ietest_fast.errors import InputError
from ietest_fast.numerals import show_p
from ietest_fast.report.tables import Column, MeanSd, PValue, Table
from ietest_fast.stats import Interval

TABLE = Table(
    name="all-kinds",
    title="50% of a_b & ρ",
    columns=(
        Column("who"),
        Column("times", "count"),
        Column("share %", "percent", 1),
        Column("δ", "points"),
        Column("p", "p"),
        Column("x", "number", 3),
        Column("spread", "percent"),
        Column("interval", "number", 1),
    ),
    rows=(
        ("a|b <i>", 12345, 0.125, -0.0125, 0.0123, 1.5, MeanSd(0.5, 0.01), Interval(1.0, 2.0)),
        ("c → d", -3, 0.0, 0.005, 1.2e-15, -0.0001, MeanSd(0.25, None), None),
        (None, None, None, None, 0.0, float("-inf"), MeanSd(None, None), None),
    ),
    note="Some $note.",
)


def test_values_are_written_for_people():
    assert TABLE.shown() == [
        ["a|b <i>", "12,345", "12.5", "−1.25", "0.012", "1.500", "50.00 ± 1.00", "1.0 to 2.0"],
        ["c → d", "−3", "0.0", "+0.50", "1.2·10⁻¹⁵", "0.000", "25.00", ""],
        ["", "", "", "", "<1·10⁻³⁰⁰", "−∞", "", ""],
    ]
    assert Column("x", "number", -1).show(0.25) == "0.25"
    assert Column("x").show(True) == "yes"


def test_csv_has_all_digits_and_spreads_in_columns_of_their_own():
    rows = list(csv.reader(io.StringIO(TABLE.to_csv())))
    assert rows[0][:4] == ["who", "times", "share", "δ"]
    assert rows[0][-4:] == ["spread mean", "spread sd", "interval low", "interval high"]
    assert rows[1][:6] == ["a|b <i>", "12345", "0.125", "-0.0125", "0.0123", "1.5"]
    assert rows[2][4] == "1.2e-15"
    assert rows[2][-4:] == ["0.25", "", "", ""]


def test_markdown_escapes_what_it_would_read():
    lines = TABLE.to_markdown().splitlines()
    assert lines[0] == "**50% of a\\_b & ρ**"
    assert lines[2].startswith("| who | times |")
    assert lines[3].startswith("| :--- | ---: |")
    assert lines[4].startswith("| a\\|b \\<i> | 12,345 |")
    assert len({line.replace("\\|", "").count("|") for line in lines[2:7]}) == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("&lt;b&gt;", "\\&lt;b\\&gt;"),
        ("a & b", "a & b"),
        ("$x$ ~~no~~", "\\$x\\$ \\~\\~no\\~\\~"),
        ("`a`|b\\", "\\`a\\`\\|b\\\\"),
        ("![x](y)\n| z", "!\\[x](y) \\| z"),
    ],
)
def test_markdown_shows_signs_as_they_are(text, shown):
    table = Table(name="t", title="t", columns=(Column("c"),), rows=((text,),))
    assert table.to_markdown().splitlines()[-1] == f"| {shown} |"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
        ("100% ~^#$&_", r"100\% \textasciitilde{}\textasciicircum{}\#\$\&\_"),
        ("a\n\\\\b", r"a \textbackslash{}\textbackslash{}b"),
        ("^^M", r"\textasciicircum{}\textasciicircum{}M"),
    ],
)
def test_latex_shows_signs_as_they_are(text, shown):
    table = Table(name="t", title="t", columns=(Column("c"),), rows=((text,),))
    assert f"\\midrule\n{shown} \\\\\n" in table.to_latex()


def test_latex_escapes_what_it_would_read():
    text = TABLE.to_latex()
    assert r"\caption{50\% of a\_b \& $\rho$.}" in text
    assert r"\end{tabular}" + "\n" + r"\par\smallskip{\footnotesize Some \$note.}" in text
    assert r"\label{tab:all-kinds}" in text
    assert r"\begin{tabular}{lrrrrrrr}" in text
    assert r"a\textbar{}b \textless{}i\textgreater{} & 12,345" in text
    assert r"1.2$\cdot$10$^{-15}$" in text
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.replace(r"\&", "").count("&") for line in body} == {7}
    assert text.isascii()


def test_what_turns_the_order_of_signs_is_shown_by_another_sign():
    table = replace(TABLE, rows=(("a\x07b\u202ec\u2066", *TABLE.rows[0][1:]),))
    for text in (table.to_markdown(), table.to_latex(), table.to_csv()):
        assert not set("\u202e\u2066\x07") & set(text)
    assert "a␇b�c�" in table.to_markdown()
    assert "a?b?c?" in table.to_latex()


def test_a_long_table_goes_on_on_the_next_page():
    text = replace(TABLE, rows=TABLE.rows * 20).to_latex()
    assert r"\begin{longtable}{lrrrrrrr}" in text
    assert text.count("who & times") == 2
    assert text.index(r"\endfirsthead") < text.index(r"\endhead") < text.index("12,345")
    assert text.count("{") == text.count("}")
    assert "tabular}" not in text


def test_names_with_signs_of_units_keep_them_in_csv():
    table = Table(
        name="a",
        title="a",
        columns=(Column("forest_50% %", "percent"), Column("a (points) b (points)", "points")),
        rows=((0.5, 0.1),),
    )
    assert table.to_csv().splitlines()[0] == "forest_50%,a (points) b"


def test_columns_can_be_left_out():
    table = TABLE.without("times", "p", note="new")
    assert table.columns == TABLE.columns[:1] + TABLE.columns[2:4] + TABLE.columns[5:]
    assert table.note == "new"
    assert table.rows[0] == TABLE.rows[0][:1] + TABLE.rows[0][2:4] + TABLE.rows[0][5:]
    with pytest.raises(ValueError, match="no column absent"):
        TABLE.without("absent", note="")


def test_a_format_has_to_be_known():
    assert TABLE.to_text("tex") == TABLE.to_latex()
    with pytest.raises(InputError, match="csv, md, tex, not docx"):
        TABLE.to_text("docx")


def test_rows_fit_the_columns():
    with pytest.raises(ValueError, match="has 1 columns, a row 2"):
        Table(name="a", title="a", columns=(Column("a"),), rows=((1, 2),))


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.0, "1.000"),
        (0.001, "0.001"),
        (0.00099, "9.9·10⁻⁴"),
        (0.0, "<1·10⁻³⁰⁰"),
        (3e-300, "3.0·10⁻³⁰⁰"),
    ],
)
def test_p_values(p, text):
    assert show_p(p) == text


def test_beside_a_threshold_one_sees_on_which_side_p_lies():
    column = Column("p", "p")
    assert column.show(PValue(0.00996, 0.01)) == "0.00996"
    assert column.show(PValue(0.01004, 0.01)) == "0.010"
    assert show_p(0.01) == "0.010"


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_csv_holds_no_formulas_and_no_control_characters(name):
    table = Table(
        name="a", title="a", columns=(Column(name), Column("n")), rows=((name, "\x1b[31m"),)
    )
    head, row = list(csv.reader(io.StringIO(table.to_csv())))
    assert head[0].startswith("'")
    assert row[0].startswith("'")
    assert "\x1b" not in table.to_csv()
    # Numbers stay numbers.
    assert replace(table, rows=((-0.5, 1),)).to_csv().splitlines()[1] == "-0.5,1"


@pytest.mark.parametrize("name", ["[2pt] model", "*model"])
def test_no_row_begins_with_what_latex_takes_for_an_option(name):
    table = Table(name="a", title="a", columns=(Column("m"), Column("n")), rows=((name, 1),) * 2)
    for text in (table.to_latex(), replace(table, rows=table.rows * 30).to_latex()):
        assert f"\n{{}}{name} & " in text
        assert f"\n{name}" not in text
