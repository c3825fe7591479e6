import requests


# --8<-- [start:query]
def show_url():
    request = requests.Request(
        "GET",
        "https://example.org/items",
        params={"page": 2, "sort": None, "tag": ["a", "b"]},
    )
    print(request.prepare().url)
# --8<-- [end:query]


# --8<-- [start:merge]
def merged_headers():
    session = requests.Session()
    session.headers.update({"X-Team": "blue", "X-Trace": "1"})
    request = requests.Request(
        "GET",
        "https://example.org/",
        headers={"X-Team": "red", "X-Trace": None},
    )
    headers = session.prepare_request(request).headers
    return headers.get("X-Team"), headers.get("X-Trace")
# --8<-- [end:merge]
