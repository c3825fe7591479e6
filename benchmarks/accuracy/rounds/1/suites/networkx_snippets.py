import networkx as nx


# --8<-- [start:prune]
def prune():
    G = nx.path_graph(3)          # nodes 0, 1, 2
    G.remove_nodes_from([2, 99])
    return sorted(G.nodes)
# --8<-- [end:prune]


# --8<-- [start:export]
def export():
    G = nx.Graph()
    G.add_edge("a", "b", weight=3)
    data = nx.node_link_data(G)
    return data
# --8<-- [end:export]
