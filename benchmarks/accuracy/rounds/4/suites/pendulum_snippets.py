import pendulum


# --8<-- [start:month_end]
def next_invoice():
    issued = pendulum.datetime(2024, 1, 31)
    due = issued.add(months=1)
    print(due.to_date_string())
# --8<-- [end:month_end]
