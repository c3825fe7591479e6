from sqlalchemy import create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    pass


class User(Base):
    __tablename__ = "user_account"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


def fresh_engine():
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    return engine


# --8<-- [start:names]
def names():
    with Session(fresh_engine()) as session:
        session.add_all([User(name="bob"), User(name="ann")])
        session.flush()
        return session.execute(select(User.name).order_by(User.name)).all()
# --8<-- [end:names]


# --8<-- [start:after_close]
def create_user():
    with Session(fresh_engine()) as session:
        user = User(name="ann")
        session.add(user)
        session.commit()
    return user.name
# --8<-- [end:after_close]
