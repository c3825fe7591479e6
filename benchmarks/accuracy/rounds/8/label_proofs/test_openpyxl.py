import sys, warnings
from importlib.metadata import version
from pathlib import Path

import pytest
import openpyxl
from openpyxl import Workbook, load_workbook
from openpyxl.utils import exceptions as ex, get_column_letter

sys.path.insert(0, str(Path(__file__).parents[1] / "suites"))
import openpyxl_snippets as sn


def sheet():
    ws = Workbook().active
    ws.append([1, 2]); ws.append([3, 4])
    return ws


def test_version():
    assert version("openpyxl") == "3.1.5"


def test_sheet_by_title():
    wb = Workbook()
    data = wb.create_sheet("Data")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert wb["Data"] is wb.get_sheet_by_name("Data") is data
    assert not hasattr(wb, "sheet")
    with pytest.raises(TypeError):
        wb.worksheets["Data"]


def test_same_title_twice():
    wb = Workbook()
    assert wb.sheetnames == ["Sheet"]
    assert wb.create_sheet("Sheet").title == "Sheet1"


def test_formula_result():
    assert sn.reopened() is None


def test_old_format(tmp_path):
    p = tmp_path / "report.xls"
    p.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512)
    with pytest.raises(ex.InvalidFileException) as e:
        load_workbook(str(p))
    assert type(e.value).__bases__ == (Exception,)


def test_column_53():
    assert get_column_letter(52) == "AZ" and get_column_letter(53) == "BA"


def test_plain_rows():
    ws = sheet()
    plain = [(1, 2), (3, 4)]
    assert list(ws.values) == list(ws.iter_rows(values_only=True)) == plain
    assert list(ws.rows) != plain and list(ws.iter_rows()) != plain


def test_frozen_part():
    ws = sheet()
    ws.freeze_panes = "B2"
    pane = ws.sheet_view.pane
    assert (pane.xSplit, pane.ySplit, pane.topLeftCell, pane.state) == (1, 1, "B2", "frozen")


def test_inserting_a_row():
    ws = Workbook().active
    ws["A1"], ws["A2"] = 5, "=A1*2"
    ws.insert_rows(1)
    assert (ws["A1"].value, ws["A2"].value, ws["A3"].value) == (None, 5, "=A1*2")


def test_bold_in_place():
    c = sheet()["A1"]
    with pytest.raises(AttributeError) as e:
        c.font.bold = True
    assert not isinstance(e.value, TypeError) and not c.font.bold


def test_write_only_workbook(tmp_path):
    wb = Workbook(write_only=True)
    assert wb.sheetnames == []                       # B wrong
    ws = wb.create_sheet()
    with pytest.raises(TypeError):
        ws["A1"] = 1                                 # B, C wrong
    with pytest.raises(AttributeError):
        ws.cell(1, 1)
    with pytest.raises(AttributeError):
        ws.insert_rows(1)
    ws.append([1, 2])
    wb.save(tmp_path / "one.xlsx")
    assert list(load_workbook(tmp_path / "one.xlsx").active.values) == [(1, 2)]
    with pytest.raises(Exception):
        wb.save(tmp_path / "two.xlsx")               # A wrong


def test_many_rows(tmp_path):
    """Judgement: A and B both run."""
    wb = Workbook(); wb.active.append([1]); wb.save(tmp_path / "x.xlsx")
    assert list(load_workbook(tmp_path / "x.xlsx", read_only=True).active.iter_rows(values_only=True)) == [(1,)]
    ws = load_workbook(tmp_path / "x.xlsx").active
    ws.delete_rows(1)
    assert ws["A1"].value is None


def test_api_range_for_a_chart():
    from openpyxl.chart import BarChart, Reference
    from openpyxl.chart.reference import Reference as same
    assert same is Reference
    chart = BarChart()
    chart.add_data(Reference(sheet(), min_col=1, min_row=1, max_row=2))
    assert chart.series[0].val.numRef.f == "'Sheet'!$A$1:$A$2"


def test_api_colour_scale():
    from openpyxl.formatting.rule import ColorScaleRule, Rule
    r = ColorScaleRule(start_type="min", start_color="FFFFFF", end_type="max", end_color="FF0000")
    assert isinstance(r, Rule) and r.type == "colorScale" and len(r.colorScale.color) == 2
