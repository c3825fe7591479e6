import importlib
import inspect
import pathlib
import sys

import pytest
import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "suites"))
import sqlalchemy_snippets as snippets


def test_version():
    assert sa.__version__ == "2.1.8"


def test_relationship_lazy_default():
    assert inspect.signature(orm.relationship).parameters["lazy"].default == "select"  # B, not A/C/D/E


def test_get_one_missing_row():
    with Session(snippets.fresh_engine()) as session:
        with pytest.raises(Exception) as caught:
            session.get_one(snippets.User, 99)  # raises: not A
    assert type(caught.value) is sa.exc.NoResultFound  # C
    assert not isinstance(caught.value, (KeyError, orm.exc.ObjectDeletedError))  # not B, D


def test_postgresql_default_driver():
    dialect = make_url("postgresql://scott:tiger@localhost/test").get_dialect()
    assert dialect.driver == "psycopg"  # D
    assert dialect.__module__ == "sqlalchemy.dialects.postgresql.psycopg"
    assert make_url("postgresql+psycopg2://h/d").get_dialect().driver == "psycopg2"  # A is another dialect


def test_null_ordering():
    column = sa.column("x")
    assert sa.nullsfirst is sa.nulls_first  # B and D
    assert str(sa.nullsfirst(column)) == str(sa.nulls_first(column)) == "x NULLS FIRST"
    assert not hasattr(sa, "first_nulls") and not hasattr(sa, "null_first")  # not A, C


def test_execute_all_rows():
    rows = snippets.names()
    assert rows == [("ann",), ("bob",)]  # B, thereby not D
    assert rows != ["ann", "bob"] and rows != [{"name": "ann"}, {"name": "bob"}]  # not A, C


def test_attribute_after_close():
    with pytest.raises(Exception) as caught:
        snippets.create_user()  # raises: not A, B
    assert type(caught.value) is orm.exc.DetachedInstanceError  # C
    assert not isinstance(caught.value, sa.exc.ResourceClosedError)  # not D


def test_viewonly_effect():
    class Base(orm.DeclarativeBase):
        pass

    class Parent(Base):
        __tablename__ = "parent"
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        children = orm.relationship("Child", viewonly=True)

    class Child(Base):
        __tablename__ = "child"
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
        name: orm.Mapped[str] = orm.mapped_column(default="x")
        parent_id = orm.mapped_column(sa.ForeignKey("parent.id"))

    engine = sa.create_engine("sqlite://")
    Base.metadata.create_all(engine)
    assert sa.inspect(engine).get_view_names() == []  # not D
    with Session(engine) as session:
        parent, child = Parent(id=1), Child(id=1)
        session.add_all([parent, child])
        parent.children.append(child)
        session.commit()
        assert child.parent_id is None  # B: the change is not written
        child.parent_id = 1
        session.commit()
        assert "children" not in parent.__dict__
        assert parent.children == [child]  # lazy loading works: not A; loading works: B
        child.name = "other"  # not C
        session.commit()
        assert session.scalar(sa.select(Child.name)) == "other"


def test_max_overflow_default():
    default = inspect.signature(QueuePool.__init__).parameters["max_overflow"].default
    assert default == 10  # C, not A, B, D
    assert QueuePool(lambda: None)._max_overflow == 10


def test_not_a_session_method():
    for name in ("add_all", "merge_all", "delete_all"):
        assert callable(getattr(Session, name))
    assert not hasattr(Session, "refresh_all")  # D


def test_declarative_base_class():
    assert importlib.import_module("sqlalchemy.orm").DeclarativeBase is orm.decl_api.DeclarativeBase

    class Base(orm.DeclarativeBase):
        pass

    assert isinstance(Base.metadata, sa.MetaData)


def test_run_sql_on_engine():
    assert not hasattr(sa.engine.Engine, "execute")
    assert not hasattr(sa.create_engine("sqlite://"), "execute")
    assert hasattr(sa.engine.Connection, "execute")
