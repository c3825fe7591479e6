from textual import work
from textual.app import App, ComposeResult
from textual.widgets import Button


# --8<-- [start:two_buttons]
class Confirm(App):
    def compose(self) -> ComposeResult:
        yield Button("Yes", id="yes")
        yield Button("No", id="no")

    def find_button(self) -> Button:
        return self.query_one(Button)
# --8<-- [end:two_buttons]


# --8<-- [start:fetcher]
def build():
    class Fetcher(App):
        @work
        def fetch(self, url: str) -> str:
            return url.upper()

    return Fetcher
# --8<-- [end:fetcher]


# --8<-- [start:picker]
class Picker(App[str]):
    def on_mount(self) -> None:
        self.exit("blue", return_code=3)


async def main() -> None:
    app = Picker()
    async with app.run_test():
        pass
    print(app.return_value, app.return_code)
# --8<-- [end:picker]
