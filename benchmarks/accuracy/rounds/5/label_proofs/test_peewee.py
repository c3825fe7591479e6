import importlib.util
import inspect
import logging
import pathlib
import threading
import warnings

import peewee
import pwiz
import pytest
from peewee import CharField, ForeignKeyField, Model, SqliteDatabase
from playhouse import sqlite_ext
from playhouse.pool import MaxConnectionsExceeded, PooledSqliteDatabase

SUITES = pathlib.Path(__file__).parent.parent / "suites"


def snippets():
    spec = importlib.util.spec_from_file_location("peewee_snippets", SUITES / "peewee_snippets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def models(null=False, **options):
    db = SqliteDatabase(":memory:")

    class User(Model):
        username = CharField()

        class Meta:
            database = db

    class Comment(Model):
        author = ForeignKeyField(User, null=null, **options)

        class Meta:
            database = db

    db.create_tables([User, Comment])
    return db, User, Comment


def test_version():
    assert peewee.__version__ == "4.5.3"


def test_name_of_back_reference():
    for name in ("backref", "related_name"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _, User, Comment = models(**{name: "notes"})
        user = User.create(username="a")
        comment = Comment.create(author=user)
        assert list(user.notes) == [comment]
    with pytest.raises(TypeError):
        models(reverse="notes")
    # to_field names the referenced field; the name of the back-reference stays the default
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, User, Comment = models(to_field="username")
    assert Comment.author.rel_field is User.username
    assert Comment.author.backref == "comment_set"


def test_database_for_full_text():
    assert not hasattr(sqlite_ext, "SqliteExtDatabase")
    assert not hasattr(sqlite_ext, "CSqliteExtDatabase")

    def bind(db):
        class Page(sqlite_ext.FTS5Model):
            title = sqlite_ext.SearchField()

            class Meta:
                database = db

        return Page

    db = SqliteDatabase(":memory:")
    Page = bind(db)
    db.create_tables([Page])
    Page.create(title="quick brown fox")
    assert [page.title for page in Page.search("brown")] == ["quick brown fox"]
    assert peewee.PostgresqlDatabase.__mro__.count(SqliteDatabase) == 0  # FTS5 is a virtual table of SQLite


def test_pool_size(tmp_path):
    assert inspect.signature(PooledSqliteDatabase).parameters["max_connections"].default == 20
    db = PooledSqliteDatabase(str(tmp_path / "x.db"), check_same_thread=False)
    errors = []

    def connect():
        try:
            db.connect()
        except MaxConnectionsExceeded as error:
            errors.append(error)

    for count in range(21):
        thread = threading.Thread(target=connect)
        thread.start()
        thread.join()
        assert len(errors) == (1 if count == 20 else 0)


def test_existing_city(capsys):
    snippets().find_or_add()
    assert capsys.readouterr().out == "NO False\n"


def test_nested_blocks(capsys):
    snippets().write_notes()
    assert capsys.readouterr().out == "['outer']\n"


class Counter(logging.Handler):
    def __init__(self):
        super().__init__()
        self.queries = []

    def emit(self, record):
        self.queries.append(record.msg)


def test_lazy_load():
    db, User, Comment = models(lazy_load=False)
    user = User.create(username="a")
    Comment.create(author=user)
    counter = Counter()
    logger = logging.getLogger("peewee")
    logger.addHandler(counter)
    logger.setLevel(logging.DEBUG)
    try:
        comment = Comment.get()
        assert comment.author == user.id and type(comment.author) is int
        assert len(counter.queries) == 1  # (C) no second query
        assert "JOIN" not in Comment.select().sql()[0]  # (A)
        # loaded by an explicit join: the object
        assert Comment.select(Comment, User).join(User).get().author == user
        _, User2, Comment2 = models()
        user2 = User2.create(username="a")
        Comment2.create(author=user2)
        assert isinstance(Comment2.get().author, User2)
    finally:
        logger.removeHandler(counter)
    # (D) the constraint is part of the CREATE TABLE with and without
    sql = [m._schema._create_table().query()[0] for m in (Comment, Comment2)]
    assert sql[0] == sql[1] and "FOREIGN KEY" in sql[0]


def test_database_proxy():
    proxy = peewee.DatabaseProxy()

    class Thing(Model):
        name = CharField()

        class Meta:
            database = proxy

    with pytest.raises(AttributeError):
        proxy.connect()
    proxy.initialize(SqliteDatabase(":memory:"))
    proxy.create_tables([Thing])
    Thing.create(name="x")
    assert Thing.select().count() == 1
    own = {name for cls in (peewee.DatabaseProxy, peewee.Proxy) for name in vars(cls) if not name.startswith("_")}
    # nothing about pools, replicas or logging
    assert own <= {"initialize", "attach_callback", "passthrough", "obj", "connection_context", "atomic", "manual_commit", "transaction", "savepoint", "Model"}


def test_regardless_of_case():
    _, User, _ = models()
    for name in ("huey", "HUGO", "Humphrey", "anna", "hu%"):
        User.create(username=name)

    def names(expression):
        return {user.username for user in User.select().where(expression)}

    wanted = {"huey", "HUGO", "Humphrey", "hu%"}
    assert names(User.username ** "hu%") == wanted
    assert names(User.username.ilike("hu%")) == wanted
    assert names(User.username % "hu%") == {"hu%"}
    assert names(User.username == "hu%") == {"hu%"}
    # the same SQL on PostgreSQL, where % is the case-sensitive LIKE
    pg = peewee.PostgresqlDatabase(None)
    sql = lambda e: pg.get_sql_context().sql(e).query()[0]
    assert sql(User.username ** "hu%") == sql(User.username.ilike("hu%"))
    assert " ILIKE " in sql(User.username ** "hu%")
    assert " LIKE " in sql(User.username % "hu%")


def test_other_rows():
    _, User, _ = models()
    User.create(username="a")
    assert list(User.select(User.username).dicts()) == [{"username": "a"}]
    assert list(User.select(User.username).tuples()) == [("a",)]
    (row,) = User.select(User.username).namedtuples()
    assert row.username == "a" and isinstance(row, tuple)


def test_connect_twice():
    db = SqliteDatabase(":memory:")
    db.connect()
    with pytest.raises(peewee.OperationalError) as info:
        db.connect()
    assert not isinstance(info.value, peewee.InterfaceError)
    assert not db.is_closed()
    assert db.connect(reuse_if_open=True) is False


def test_pwiz_backend():
    parser = pwiz.get_option_parser()
    assert parser.get_option("-e").dest == "engine" and "mysql" in parser.get_option("-e").choices
    assert parser.get_option("-t").dest == "tables"
    assert not parser.has_option("--dbms") and not parser.has_option("--backend")


def test_recursive_delete():
    for pragma in (0, 1):
        db, User, Comment = models(null=True)
        db.execute_sql("PRAGMA foreign_keys = %d" % pragma)
        user = User.create(username="a")
        Comment.create(author=user)
        user.delete_instance(recursive=True)
        assert User.select().count() == 0
        assert list(Comment.select(Comment.author).tuples()) == [(None,)]
        # what the key says takes delete_nullable=True
        user = User.create(username="b")
        Comment.create(author=user)
        user.delete_instance(recursive=True, delete_nullable=True)
        assert Comment.select().count() == 1


def test_api_flags_in_an_integer():
    db = SqliteDatabase(":memory:")

    class Post(Model):
        flags = peewee.BitField()
        is_sticky = flags.flag(1)
        is_hidden = flags.flag(2)

        class Meta:
            database = db

    db.create_tables([Post])
    post = Post()
    post.is_sticky = True
    post.is_hidden = True
    post.save()
    assert list(Post.select(Post.flags).tuples()) == [(3,)]


def test_api_circular_reference():
    assert not hasattr(peewee, "DeferredRelation")
    assert hasattr(peewee, "DeferredForeignKey")
