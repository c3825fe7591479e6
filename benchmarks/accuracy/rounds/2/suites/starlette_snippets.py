from starlette.datastructures import QueryParams, Secret


# --8<-- [start:tags]
def tags():
    params = QueryParams("tag=a&tag=b&tag=c")
    return params["tag"], params.getlist("tag")
# --8<-- [end:tags]


# --8<-- [start:secret]
def show():
    token = Secret("hunter2")
    print(token)
# --8<-- [end:secret]
