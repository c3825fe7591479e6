import arrow


# --8<-- [start:month_ends]
def month_ends():
    start = arrow.get(2024, 1, 31)
    first = start.shift(months=1)
    second = first.shift(months=1)
    print(first.format("MM-DD"), second.format("MM-DD"))
# --8<-- [end:month_ends]


# --8<-- [start:later]
def one_hour_later(moment: arrow.Arrow) -> arrow.Arrow:
    return moment.replace(hours=1)
# --8<-- [end:later]
