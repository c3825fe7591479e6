from marshmallow import Schema, ValidationError, fields


# --8<-- [start:adult]
class AdultSchema(Schema):
    age = fields.Integer(required=True, validate=lambda n: n >= 18)


def check():
    return AdultSchema().load({"age": 12})
# --8<-- [end:adult]


# --8<-- [start:partial-result]
class ContactSchema(Schema):
    email = fields.Email()
    age = fields.Integer()


def read_contact():
    try:
        return ContactSchema().load({"email": "not an address", "age": "41"})
    except ValidationError as err:
        return err.valid_data
# --8<-- [end:partial-result]
