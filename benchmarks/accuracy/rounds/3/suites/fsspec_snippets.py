import fsspec


# --8<-- [start:transaction]
def save():
    fs = fsspec.filesystem("memory")
    with fs.transaction:
        with fs.open("/report.txt", "wb") as f:
            f.write(b"done")
        inside = fs.exists("/report.txt")
    print(inside, fs.exists("/report.txt"))
# --8<-- [end:transaction]


# --8<-- [start:cat_many]
def show_logs():
    fs = fsspec.filesystem("memory")
    fs.pipe({"/logs/a.txt": b"1", "/logs/b.txt": b"2"})
    print(fs.cat("/logs/*.txt"))
# --8<-- [end:cat_many]
