import pluggy

# --8<-- [start:order]
hookspec = pluggy.HookspecMarker("shop")
hookimpl = pluggy.HookimplMarker("shop")


class Spec:
    @hookspec
    def label(self, item):
        """Return a label for the item."""


class First:
    @hookimpl
    def label(self, item):
        return f"first-{item}"


class Second:
    @hookimpl
    def label(self):
        return "second"


def main():
    pm = pluggy.PluginManager("shop")
    pm.add_hookspecs(Spec)
    pm.register(First())
    pm.register(Second())
    print(pm.hook.label(item="tea"))
# --8<-- [end:order]
