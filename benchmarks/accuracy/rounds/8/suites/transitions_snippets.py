"""Snippets for the transitions questions."""
from transitions import Machine, State


# --8<-- [start:callbacks]
class Model:
    def __init__(self):
        self.calls = []

    def prepare(self):
        self.calls.append("prepare")

    def condition(self):
        self.calls.append("condition")
        return True

    def before(self):
        self.calls.append("before")

    def after(self):
        self.calls.append("after")

    def machine_before(self):
        self.calls.append("machine_before")

    def machine_after(self):
        self.calls.append("machine_after")

    def exit(self):
        self.calls.append("exit")

    def enter(self):
        self.calls.append("enter")


def run():
    model = Model()
    Machine(
        model,
        states=[State("off", on_exit="exit"), State("on", on_enter="enter")],
        initial="off",
        transitions=[
            {
                "trigger": "press",
                "source": "off",
                "dest": "on",
                "prepare": "prepare",
                "conditions": "condition",
                "before": "before",
                "after": "after",
            }
        ],
        before_state_change="machine_before",
        after_state_change="machine_after",
    )
    model.press()
    return ", ".join(model.calls)
# --8<-- [end:callbacks]


# --8<-- [start:queued]
class Door:
    def has_key(self):
        return False


def attempt():
    door = Door()
    Machine(
        door,
        states=["closed", "open"],
        initial="closed",
        transitions=[{"trigger": "unlock", "source": "closed", "dest": "open", "conditions": "has_key"}],
        queued=True,
    )
    return door.unlock(), door.state
# --8<-- [end:queued]
