import inspect, sys
from importlib.metadata import version
from pathlib import Path

import pytest
from transitions import EventData, Machine, MachineError
from transitions.extensions import GraphMachine, HierarchicalMachine

sys.path.insert(0, str(Path(__file__).parents[1] / "suites"))
import transitions_snippets as sn


def test_version():
    assert version("transitions") == "0.9.3"


def test_order_of_callbacks():
    assert sn.run() == "prepare, condition, machine_before, before, exit, enter, after, machine_after"


@pytest.mark.parametrize("source,ok", [("*", True), ("all", False), (["idle", "busy", "broken"], True), (None, False)])
def test_reset_from_everywhere(source, ok):
    worked = []
    for state in ("idle", "busy", "broken"):
        machine = Machine(states=["idle", "busy", "broken"], initial="idle", auto_transitions=False)
        machine.add_transition("reset", source, "idle")
        machine.set_state(state)
        try:
            machine.reset()
        except MachineError:
            continue
        worked.append(machine.state == "idle")
    assert (worked == [True] * 3) is ok


def test_unknown_destination():
    machine = Machine(states=["a", "b"], initial="a")
    assert machine.add_transition("go", "a", "zz") is None
    assert list(machine.states) == ["a", "b"]
    with pytest.raises(ValueError, match="not a registered state"):
        machine.go()


def test_queued_result():
    assert sn.attempt() == (True, "closed")


def test_two_kinds_of_staying():
    class M:
        def __init__(self): self.calls = []
        def on_enter_b(self): self.calls.append("enter")
        def on_exit_b(self): self.calls.append("exit")
    m = M()
    Machine(m, states=["a", "b"], initial="a", transitions=[["again", "b", "="], ["inside", "b", None]])
    m.to_b(); m.calls.clear()
    assert m.again() is True and m.calls == ["exit", "enter"] and m.state == "b"
    m.calls.clear()
    assert m.inside() is True and m.calls == [] and m.state == "b"


def test_next_in_order():
    def fresh():
        return Machine(states=["red", "green", "yellow"], initial="red", ordered_transitions=True)
    m = fresh(); m.next_state(); assert m.state == "green"
    m = fresh(); m.trigger("next_state"); assert m.state == "green"
    for bad in ("next", "advance"):
        with pytest.raises(AttributeError):
            getattr(fresh(), bad)()


def test_import_hierarchical():
    for bad in ("transitions", "transitions.core", "transitions.hierarchical", "transitions.states"):
        with pytest.raises(ImportError):
            exec(f"from {bad} import HierarchicalMachine")
    assert isinstance(HierarchicalMachine, type)


def test_send_event():
    got = []
    class M:
        def cb(self, *a, **k): got.append((a, k))
    for flag in (False, True):
        m, other = M(), M()
        Machine([m, other], states=["a", "b"], initial="a", transitions=[dict(trigger="go", source="a", dest="b", after="cb")], send_event=flag)
        assert m.go(1, key=2) is True                     # D wrong
        assert m.state == "b" and other.state == "a"      # A wrong
    assert got[0] == ((1,), {"key": 2})
    (event,), kw = got[1]
    assert len(got) == 2 and kw == {} and type(event) is EventData and event.args == (1,) and event.kwargs == {"key": 2}
    # C wrong: a trigger inside a callback is processed at once
    class N:
        def cb(self, event):
            self.to_c(); self.seen = self.state
    n = N()
    Machine(n, states=["a", "b", "c"], initial="a", transitions=[dict(trigger="go", source="a", dest="b", after="cb")], send_event=True)
    n.go()
    assert n.seen == "c"


def test_graph_engine_default():
    assert inspect.signature(GraphMachine.__init__).parameters["graph_engine"].default == "pygraphviz"


def test_api_name_of_state_attribute():
    import transitions.core
    assert transitions.core.Machine is Machine
    class M: pass
    m = M()
    Machine(m, states=["a", "b"], initial="a", model_attribute="status")
    assert m.status == "a" and not hasattr(m, "state")


def test_api_state_features():
    import transitions.extensions
    from transitions.extensions.states import Tags, add_state_features
    assert not hasattr(transitions.extensions, "add_state_features")
    with pytest.raises(ImportError):
        exec("from transitions.extensions import add_state_features")

    @add_state_features(Tags)
    class Custom(Machine):
        pass
    m = Custom(states=[{"name": "a", "tags": ["urgent"]}], initial="a")
    assert m.get_state("a").is_urgent
