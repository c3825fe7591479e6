from attrs import define
from cattrs import Converter


# --8<-- [start:extra_keys]
@define
class Server:
    host: str
    port: int = 8080


def load_server():
    converter = Converter(forbid_extra_keys=True)
    return converter.structure({"host": "localhost", "prot": 9090}, Server)
# --8<-- [end:extra_keys]
