"""Snippets for the openpyxl questions."""
import io

from openpyxl import Workbook, load_workbook


# --8<-- [start:formula]
def reopened():
    wb = Workbook()
    wb.active["A1"] = 2
    wb.active["A2"] = 3
    wb.active["A3"] = "=A1+A2"
    buffer = io.BytesIO()
    wb.save(buffer)
    buffer.seek(0)
    return load_workbook(buffer, data_only=True).active["A3"].value
# --8<-- [end:formula]
