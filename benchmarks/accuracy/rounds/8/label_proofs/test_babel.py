import io, subprocess, sys
from datetime import timedelta
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

import pytest
import babel
from babel import Locale, UnknownLocaleError
from babel.dates import format_timedelta
from babel.messages import Catalog
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from babel.numbers import format_percent
from babel.support import NullTranslations, Translations

sys.path.insert(0, str(Path(__file__).parents[1] / "suites"))
import babel_snippets as sn


def pybabel(*args, cwd):
    code = "from babel.messages.frontend import main; main()"
    return subprocess.run([sys.executable, "-c", code, *args], cwd=cwd, capture_output=True, text=True)


def test_version():
    assert version("babel") == "2.18.0"


def test_half_percent():
    assert format_percent(0.345, locale="en_US") == "34%"


def test_import_locale():
    import babel.core
    assert babel.Locale is babel.core.Locale
    for bad in ("babel.locale", "babel.localedata"):
        with pytest.raises(ImportError):
            exec(f"from {bad} import Locale")


def test_nearly_a_day():
    assert format_timedelta(timedelta(hours=23), locale="en_US") == "1 day"


def test_hyphenated_identifier():
    with pytest.raises(ValueError):
        Locale.parse("de-DE")
    assert not issubclass(UnknownLocaleError, ValueError)
    assert Locale.parse("de-DE", sep="-") == Locale("de", "DE")


def test_no_such_catalog(tmp_path):
    (tmp_path / "messages.pot").write_text('msgid "hi"\nmsgstr ""\n')
    t = Translations.load(str(tmp_path), ["de"])
    assert type(t) is NullTranslations and t.gettext("hi") == "hi"
    assert [p.name for p in tmp_path.iterdir()] == ["messages.pot"]


def test_new_language_on_update(tmp_path):
    (tmp_path / "m.pot").write_text('msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\nmsgid "hi"\nmsgstr ""\n')
    po = tmp_path / "loc/fr/LC_MESSAGES/messages.po"

    def update(*opts):
        return pybabel("update", "-i", "m.pot", "-d", "loc", "-l", "fr", *opts, cwd=tmp_path).returncode
    for bad in ("--create-missing", "--force", "--new-locales"):
        assert update(bad) == 2 and not po.exists()
    assert update() != 0 and not po.exists()
    assert update("--init-missing") == 0 and po.exists()


def test_week_in_the_us():
    assert Locale("en", "US").first_week_day == 6


def test_unknown_keyword(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text('N_("one")\nlazy_gettext("two")\npgettext("menu", "three")\ndgettext("shop", "four")\n')
    assert pybabel("extract", "-o", "m.pot", "src", cwd=tmp_path).returncode == 0
    ids = {m.id for m in read_po((tmp_path / "m.pot").open("rb")) if m.id}
    assert ids == {"one", "three", "four"}


def test_wrong_separator():
    assert sn.read_amount("1.5") == Decimal("15")


def test_fuzzy_messages(tmp_path):
    d = tmp_path / "loc/de/LC_MESSAGES"
    d.mkdir(parents=True)
    po = d / "messages.po"
    po.write_text('msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\nmsgid "a"\nmsgstr "A"\n\n#, fuzzy\nmsgid "b"\nmsgstr "B"\n')
    before = po.read_text()

    def compiled(*opts):
        r = pybabel("compile", "-d", "loc", *opts, cwd=tmp_path)
        assert r.returncode == 0, r.stderr
        return {m.id for m in read_mo((d / "messages.mo").open("rb")) if m.id}
    assert compiled() == {"a"} and compiled("--use-fuzzy") == {"a", "b"} and po.read_text() == before
    assert pybabel("compile", "-d", "loc", "--ignore-fuzzy", cwd=tmp_path).returncode == 2


def test_api_reading_po_files():
    c = read_po(io.BytesIO(b'msgid "a"\nmsgstr "b"\n'))
    assert isinstance(c, Catalog) and c["a"].string == "b"
