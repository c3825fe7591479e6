import importlib, inspect, os, subprocess, sys, warnings
from collections import Counter, OrderedDict
from importlib.metadata import version
from pathlib import Path
from random import Random

import pytest
from faker import Faker
from faker.exceptions import UniquenessException

sys.path.insert(0, str(Path(__file__).parents[1] / "suites"))
import faker_snippets as sn


def test_version():
    assert version("Faker") == "40.54.0"


def test_unique_runs_out():
    with pytest.raises(UniquenessException):
        sn.unique_flags()
    assert not issubclass(UniquenessException, StopIteration)


def test_seed_on_instance():
    fake = Faker()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(TypeError) as e:
            fake.seed(4321)
    assert not seen and not isinstance(e.value, AttributeError)


def test_import_faker():
    from faker import Faker as A
    from faker.proxy import Faker as C
    assert A is C
    with pytest.raises(ImportError):
        importlib.import_module("faker.core")
    with pytest.raises(ImportError):
        exec("from faker.providers import Faker")


def test_dob_max_age():
    assert inspect.signature(Faker().date_of_birth).parameters["maximum_age"].default == 115


def test_password_no_punctuation():
    fake = Faker()
    assert all(fake.password(length=30, special_chars=False).isalnum() for _ in range(300))
    for wrong in ("punctuation", "symbols", "use_special"):
        with pytest.raises(TypeError):
            fake.password(**{wrong: False})


def test_use_weighting():
    el = OrderedDict([("a", 0.99), ("b", 0.01)])
    def share(**kw):
        fake = Faker("en_US", **kw)
        fake.seed_instance(1)
        return Counter(fake.random_element(el) for _ in range(4000))["b"] / 4000
    assert share() < 0.03 and share(use_weighting=True) < 0.03
    assert 0.45 < share(use_weighting=False) < 0.55
    # A: locale weights are used all the same
    for flag in (True, False):
        fake = Faker({"en_US": 99, "ja_JP": 1}, use_weighting=flag)
        Faker.seed(3)
        ascii_ = sum(fake.name().isascii() for _ in range(1000))
        assert ascii_ > 950
    # C: repeats stay as likely
    fake = Faker(use_weighting=True)
    fake.seed_instance(0)
    assert Counter(fake.random_element(el) for _ in range(4000))["a"] > 3800
    # D: order of the providers is the same
    assert [p.__provider__ for p in Faker(use_weighting=False).get_providers()] == [p.__provider__ for p in Faker().get_providers()]


def test_reserved_domain():
    fake = Faker()
    ok = {"example.com", "example.net", "example.org"}
    dom = lambda f: {f().split("@")[1] for _ in range(1500)}
    assert dom(fake.safe_email) == ok and dom(fake.email) == ok
    assert inspect.signature(fake.email).parameters["safe"].default is True
    assert dom(fake.free_email) - ok and dom(fake.company_email) - ok


@pytest.mark.parametrize("name,works", [("faker_seed", True), ("faker_random_seed", False), ("faker_session_seed", False), ("seed_faker", False)])
def test_pytest_seed_fixture(tmp_path, name, works):
    (tmp_path / "test_x.py").write_text(f"""
import pytest, random
@pytest.fixture(autouse=True)
def {name}():
    return 12345
def test_it(faker):
    assert faker.random.getstate() == random.Random(12345).getstate()
""")
    r = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)], capture_output=True, text=True, cwd=tmp_path)
    assert (r.returncode == 0) is works, r.stdout
    assert works or "AssertionError" in r.stdout or "assert" in r.stdout


@pytest.mark.parametrize("opt,works", [("--include", True), ("--provider", False), ("--plugin", False), ("--module", False)])
def test_cli_custom_provider(tmp_path, opt, works):
    (tmp_path / "mine.py").write_text("from faker.providers import BaseProvider\nclass Provider(BaseProvider):\n    def zork(self):\n        return 'zork!'\n")
    r = subprocess.run([sys.executable, "-m", "faker", opt, "mine", "zork"], capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert (r.returncode == 0 and "zork!" in r.stdout) is works
    assert works or "unrecognized arguments" in r.stderr


def test_seed_vs_seed_instance():
    a, b = Faker(), Faker()
    assert a.random is b.random
    Faker.seed(0); x = a.random_int()
    Faker.seed(0); assert b.random_int() == x            # existing instances are affected: B wrong
    a.seed_instance(0)
    assert a.random is not b.random and b.random is Faker().random   # A and B wrong
    state = b.random.getstate(); a.seed_instance("text"); assert b.random.getstate() == state   # D wrong: str is accepted


def test_optional_prob():
    fake = Faker()
    assert all(fake.optional.name(prob=1.0) is not None for _ in range(300))
    fake.seed_instance(1)
    n = sum(fake.optional.name(prob=0.8) is not None for _ in range(3000)) / 3000
    assert 0.75 < n < 0.85


def test_multi_locale_provider():
    with pytest.raises(NotImplementedError) as e:
        sn.build_fake()
    assert not isinstance(e.value, (AttributeError, TypeError))


def test_api_provider_base():
    from faker.providers import BaseProvider
    assert callable(BaseProvider.random_element) and callable(BaseProvider.bothify)


def test_api_seed_one_locale():
    from faker.generator import Generator
    import faker
    assert faker.Generator is Generator
    assert not hasattr(Generator, "seed_locale") and not hasattr(Generator(), "seed_locale")
    assert callable(Faker.seed_locale)
