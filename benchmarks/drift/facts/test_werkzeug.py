"""Plain pytest: which questions of werkzeug.yaml are right on the installed release.

A test passes if the key of its question is right and no other option is.
"""

import importlib
import inspect


def names(module, *wanted):
    found = importlib.import_module(module)
    return [one for one in wanted if hasattr(found, one)]


def members(module, name, *wanted):
    owner = getattr(importlib.import_module(module), name)
    return [one for one in wanted if hasattr(owner, one)]


def default(module, function, parameter):
    found = getattr(importlib.import_module(module), function)
    return inspect.signature(found).parameters[parameter].default


def test_quote_function():
    options = ("url_quote", "url_escape", "quote_url", "percent_quote")
    assert names("werkzeug.urls", *options) == ["url_quote"]


def test_compare_strings():
    options = ("compare_str", "safe_str_cmp", "constant_time_equal", "secure_compare")
    assert names("werkzeug.security", *options) == ["safe_str_cmp"]


def test_base_response():
    options = ("BaseResponse", "PlainResponse", "SimpleResponse", "RawResponse")
    assert names("werkzeug.wrappers", *options) == ["BaseResponse"]


def test_safe_join():
    options = ("join_path", "secure_join", "safe_join", "checked_join")
    assert names("werkzeug.utils", *options) == ["safe_join"]


def test_escape_html():
    options = ("escape", "quote_html", "html_safe", "encode_entities")
    assert names("werkzeug.utils", *options) == ["escape"]


def test_request_charset():
    options = ("text_encoding", "codec", "body_charset", "charset")
    assert members("werkzeug.wrappers", "Request", *options) == ["charset"]


def test_hash_method_default():
    assert default("werkzeug.security", "generate_password_hash", "method") == "pbkdf2:sha256"


def test_salt_length_default():
    assert default("werkzeug.security", "generate_password_hash", "salt_length") == 16


def test_wrap_exceptions():
    options = ("enclose", "wrap", "embed", "convert")
    assert members("werkzeug.exceptions", "HTTPException", *options) == ["wrap"]


def test_client_cookie():
    options = ("read_cookie", "get_cookie", "set_cookie", "cookie_value")
    assert members("werkzeug.test", "Client", *options) == ["set_cookie"]


def test_header_membership():
    options = ("has_key", "contains_key", "key_exists", "includes")
    assert members("werkzeug.datastructures", "Headers", *options) == ["has_key"]


def test_redirect_code():
    assert default("werkzeug.utils", "redirect", "code") == 302


def test_proxy_class():
    options = ("ProxyHeaders", "ForwardedFix", "ProxyFix", "ReverseProxy")
    assert names("werkzeug.middleware.proxy_fix", *options) == ["ProxyFix"]
