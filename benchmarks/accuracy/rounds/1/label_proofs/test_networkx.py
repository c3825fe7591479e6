import importlib.metadata, importlib.util, inspect, pathlib
import networkx as nx, pytest

SUITES = pathlib.Path(__file__).parent.parent / "suites"
spec = importlib.util.spec_from_file_location("networkx_snippets", SUITES / "networkx_snippets.py")
snip = importlib.util.module_from_spec(spec); spec.loader.exec_module(snip)


def test_version():
    assert importlib.metadata.version("networkx") == "3.6.1"


def test_build_stages():  # Incorrect: B
    for n in ("topological_layers", "dag_stages"):
        assert not hasattr(nx, n) and not hasattr(nx.algorithms.dag, n)
    G = nx.DiGraph([("a", "c"), ("b", "c"), ("c", "d"), ("a", "d")])
    assert [sorted(s) for s in nx.topological_generations(G)] == [["a", "b"], ["c"], ["d"]]
    assert all(isinstance(s, list) for s in nx.topological_generations(G))
    assert list(nx.lexicographical_topological_sort(G)) == ["a", "b", "c", "d"]   # flat


def test_node_link_edges():  # Incorrect: B
    data = snip.export()
    assert data["edges"] == [{"weight": 3, "source": "a", "target": "b"}]
    assert not {"links", "adjacency", "arcs"} & set(data)


def test_cheapest_route():  # Ambiguous: A, B
    G = nx.Graph()
    G.add_edge("s", "t", cost=10); G.add_edge("s", "m", cost=1); G.add_edge("m", "t", cost=1)
    assert nx.shortest_path(G, "s", "t", weight="cost") == ["s", "m", "t"]
    assert nx.dijkstra_path(G, "s", "t", weight="cost") == ["s", "m", "t"]
    assert nx.shortest_path(G, "s", "t") == ["s", "t"]
    assert nx.dijkstra_path_length(G, "s", "t", weight="cost") == 2


def test_outgoing():  # Ambiguous: B, C
    G = nx.DiGraph([(1, 2), (3, 1), (1, 4)])
    assert nx.DiGraph.neighbors is nx.DiGraph.successors
    for it in (G.successors(1), G.neighbors(1)):
        assert iter(it) is it and list(it) == [2, 4]
    assert list(G.predecessors(1)) == [3]
    assert list(G.in_edges(1)) == [(3, 1)]


def test_toposort_cycle():
    G = nx.DiGraph([("a", "b"), ("b", "a")])
    with pytest.raises(nx.NetworkXUnfeasible) as e:
        list(nx.topological_sort(G))
    assert type(e.value) is nx.NetworkXUnfeasible
    assert not isinstance(e.value, (nx.HasACycle, nx.NetworkXNoCycle, ValueError))


def test_prune_result():
    assert snip.prune() == [0, 1]


def test_pagerank_alpha():
    assert inspect.signature(nx.pagerank).parameters["alpha"].default == 0.85


def test_multidigraph_parents():
    assert nx.MultiDiGraph.__bases__ == (nx.MultiGraph, nx.DiGraph)


def test_integer_labels():
    G = nx.Graph([("long", "longer"), ("longer", "longest")])
    H = nx.convert_node_labels_to_integers(G)
    assert H is not G and sorted(H) == [0, 1, 2] and "long" in G
    with pytest.raises(TypeError):
        nx.relabel_nodes(G)
    assert not hasattr(nx, "relabel_to_integers") and not hasattr(nx, "enumerate_nodes")


def test_compose_or_union():
    G, H = nx.Graph([(1, 2)]), nx.Graph([(2, 3)])
    with pytest.raises(nx.NetworkXError):
        nx.union(G, H)
    C = nx.compose(G, H)
    assert sorted(C) == [1, 2, 3] and C is not G and sorted(G) == [1, 2]
    assert not nx.union(G, nx.Graph([(8, 9)])).is_multigraph()


def test_parallel_edges(capsys):
    G = nx.MultiGraph()
    first = G.add_edge("a", "b")
    second = G.add_edge("a", "b")
    print(first, second, G.number_of_edges())
    assert capsys.readouterr().out == "0 1 2\n"


def test_api_no_route():
    from networkx.exception import NetworkXNoPath
    G = nx.Graph([(1, 2), (3, 4)])
    with pytest.raises(nx.NetworkXNoPath) as e:
        nx.shortest_path(G, 1, 3)
    assert type(e.value) is NetworkXNoPath


def test_api_uniform_tree():  # Incorrect
    import networkx.generators.trees as t
    assert not hasattr(nx, "random_tree") and not hasattr(t, "random_tree")
    assert hasattr(nx, "random_labeled_tree")
