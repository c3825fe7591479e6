"""Snippets for the falcon questions."""
import falcon
from falcon import testing


# --8<-- [start:cookie]
class Login:
    def on_post(self, req, resp):
        resp.set_cookie("sid", "1")


def cookie_header():
    app = falcon.App()
    app.add_route("/login", Login())
    result = testing.TestClient(app).simulate_post("/login")
    return result.headers["set-cookie"]
# --8<-- [end:cookie]
