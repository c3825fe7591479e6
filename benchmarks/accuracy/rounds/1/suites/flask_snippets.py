from flask import Flask, session


# --8<-- [start:counter]
def visit():
    app = Flask(__name__)
    app.config["TESTING"] = True

    @app.route("/")
    def index():
        session["visits"] = 1
        return "ok"

    return app.test_client().get("/").status_code
# --8<-- [end:counter]
