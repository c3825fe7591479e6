"""Addresses of the viewer's pages: on its server, or as files of a bundle relative to a page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Links:
    """Where each page is. Keys need no quoting: they are letters, digits, `.`, `_`, `-` and `~`."""

    up: str = "/"
    """What leads from the page to the top: `/` on a server, `../` for every folder in a bundle."""
    end: str = ""
    """What the name of a page ends with."""

    @property
    def is_static(self) -> bool:
        return self.end != ""

    def asset(self, name: str) -> str:
        return f"{self.up}assets/{name}"

    def runs(self) -> str:
        return f"{self.up}index{self.end}" if self.is_static else self.up

    def run(self, run: str, query: str = "") -> str:
        return f"{self.up}runs/{run}{self.end}{query}"

    def case(self, run: str, case: str, query: str = "") -> str:
        return f"{self.up}runs/{run}/{case}{self.end}{query}"

    def title(self, title: str) -> str:
        return f"{self.up}titles/{title}{self.end}"

    def comparison(self, before: str, after: str, query: str = "") -> str:
        return f"{self.up}compare/{before}/{after}{self.end}{query}"

    def compared_case(self, before: str, after: str, case: str) -> str:
        return f"{self.up}compare/{before}/{after}/{case}{self.end}"


SERVER = Links()


def link_from(depth: int) -> Links:
    """Return the links of a page of a bundle, that many folders below its top."""
    return Links(up="../" * depth or "./", end=".html")
