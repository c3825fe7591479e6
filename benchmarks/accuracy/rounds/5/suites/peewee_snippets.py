from peewee import CharField, Model, SqliteDatabase

db = SqliteDatabase(":memory:")


# --8<-- [start:cities]
class City(Model):
    name = CharField(unique=True)
    country = CharField()

    class Meta:
        database = db


def find_or_add():
    db.create_tables([City])
    City.create(name="Oslo", country="NO")
    city, created = City.get_or_create(name="Oslo", defaults={"country": "SE"})
    print(city.country, created)
# --8<-- [end:cities]


# --8<-- [start:notes]
class Note(Model):
    text = CharField()

    class Meta:
        database = db


def write_notes():
    db.create_tables([Note])
    with db.atomic():
        Note.create(text="outer")
        try:
            with db.atomic():
                Note.create(text="inner")
                raise ValueError("no")
        except ValueError:
            pass
    print([note.text for note in Note.select()])
# --8<-- [end:notes]
