"""Shows on Jinja2 3.1.6 what labels.yaml says of each question on it: a test per question.

Run it with plain pytest where `jinja2==3.1.6` is installed.
"""

import importlib
import inspect
from contextlib import suppress

import jinja2
import jinja2.nativetypes
import jinja2.sandbox
import markupsafe
import pytest

ENVIRONMENT = inspect.signature(jinja2.Environment.__init__).parameters


def can_import(module, name):
    with suppress(ImportError):
        return hasattr(importlib.import_module(module), name)
    return False


def raised_by(call):
    with pytest.raises(Exception) as caught:
        call()
    return caught.type


def those(names, holds):
    return [name for name in names if holds(name)]


def rendered(text, **settings):
    return jinja2.Environment(**settings).from_string(text).render(text="<b>")


def test_missing_variable():
    assert jinja2.Template("Hello {{ name }}!").render() == "Hello !"


def test_strict_undefined():
    kind = raised_by(lambda: rendered("{{ x }}", undefined=jinja2.StrictUndefined))
    assert kind is jinja2.UndefinedError
    assert not issubclass(kind, jinja2.TemplateSyntaxError | NameError)


def test_autoescape_default():
    assert ENVIRONMENT["autoescape"].default is False


def test_loader_import():
    options = [
        ("jinja2", "FileSystemLoader"),
        ("jinja2.files", "FileSystemLoader"),
        ("jinja2", "FolderLoader"),
        ("jinja2.fs", "FolderLoader"),
    ]
    assert those(options, lambda one: can_import(*one)) == options[:1]


def test_newline_after_block():
    names = ["trim_blocks", "lstrip_blocks", "strip_newlines", "keep_trailing_newline"]
    template = "{% if 1 %}\nyes{% endif %}"
    known = those(names, ENVIRONMENT.__contains__)
    assert those(known, lambda one: rendered(template, **{one: True}) == "yes") == ["trim_blocks"]


def test_template_from_text():
    names = ["from_string", "parse_string", "load_string", "template_from_string"]
    assert those(names, lambda one: hasattr(jinja2.Environment(), one)) == ["from_string"]


def test_shipped_loaders():
    names = ["DictLoader", "FunctionLoader", "S3Loader", "ChoiceLoader"]
    assert those(names, lambda one: not hasattr(jinja2, one)) == ["S3Loader"]


def test_escaped_markup():
    assert rendered("{{ text }}", autoescape=True) == "&lt;b&gt;"


def test_untrusted_templates():
    reaching = "{{ ''.__class__.__mro__ }}"
    for kind in (jinja2.Environment, jinja2.nativetypes.NativeEnvironment):
        assert "object" in str(kind().from_string(reaching).render())
    safe = jinja2.sandbox.SandboxedEnvironment().from_string(reaching)
    assert raised_by(safe.render) is jinja2.sandbox.SecurityError
    assert "sandbox" not in ENVIRONMENT


def test_safe_string_class():
    environment = jinja2.Environment(autoescape=True)
    text = markupsafe.Markup("<b>")
    assert environment.from_string("{{ text }}").render(text=text) == "<b>"
    assert not [one for one in ("SafeString", "Safe") if hasattr(jinja2, one)]


def test_no_loader():
    assert raised_by(lambda: jinja2.Environment().get_template("index.html")) is TypeError


def test_markup_import():
    modules = ["jinja2", "markupsafe", "jinja2.markup", "jinja2.utils"]
    assert those(modules, lambda one: can_import(one, "Markup")) == ["markupsafe"]


def test_cache_size():
    assert ENVIRONMENT["cache_size"].default == 400


def test_empty_condition():
    kind = raised_by(lambda: rendered("{% if %}yes{% endif %}"))
    assert kind is jinja2.TemplateSyntaxError
    assert not issubclass(kind, jinja2.TemplateAssertionError | SyntaxError)


def test_autoescape_import():
    modules = ["jinja2", "jinja2.autoescape", "jinja2.escaping", "jinja2.security"]
    assert those(modules, lambda one: can_import(one, "select_autoescape")) == ["jinja2"]


def test_loader_module():
    modules = ["jinja2", "jinja2.loaders", "jinja2.loader", "jinja2.filesystem"]
    found = those(modules, lambda one: can_import(one, "FileSystemLoader"))
    assert found == ["jinja2", "jinja2.loaders"]


def test_renders_to_three():
    templates = ["{{ 1 + 2 }}", "{{ [4, 5, 6] | length }}", "{{ '1' ~ '2' }}", "{{ 3 / 2 }}"]
    assert those(templates, lambda one: rendered(one) == "3") == templates[:2]


def test_async_rendering():
    names = ["async_mode", "is_async", "asynchronous", "enable_async"]
    assert those(names, ENVIRONMENT.__contains__) == ["enable_async"]
    assert jinja2.Environment(enable_async=True).is_async


def test_loop_counter():
    assert rendered("{% for one in 'abc' %}{{ loop.index }} {% endfor %}").strip() == "1 2 3"


def test_not_a_filter():
    names = ["upper", "tojson", "slugify", "join"]
    assert those(names, lambda one: one not in jinja2.Environment().filters) == ["slugify"]


def test_variable_delimiter():
    names = ["variable_start_string", "var_start", "open_variable", "expression_start"]
    assert those(names, ENVIRONMENT.__contains__) == ["variable_start_string"]
    assert rendered("<< 3 }}", variable_start_string="<<") == "3"


def test_not_found_parent():
    classes = [LookupError, KeyError, ValueError, OSError]
    bases = those(classes, lambda one: issubclass(jinja2.TemplateNotFound, one))
    assert bases == [LookupError, OSError]
