"""Snippets for the Faker questions."""
from faker import Faker
from faker.providers import BaseProvider


# --8<-- [start:unique_flags]
def unique_flags():
    fake = Faker()
    return [fake.unique.boolean() for _ in range(3)]
# --8<-- [end:unique_flags]


# --8<-- [start:shoe_provider]
class ShoeProvider(BaseProvider):
    def shoe_size(self) -> int:
        return self.random_int(36, 48)


def build_fake() -> Faker:
    fake = Faker(["en_US", "de_DE"])
    fake.add_provider(ShoeProvider)
    return fake
# --8<-- [end:shoe_provider]
