"""The code that two questions on Jinja2 refer to."""

from jinja2 import Environment

# --8<-- [start:escaping]
environment = Environment(autoescape=True)
print(environment.from_string("{{ text }}").render(text="<b>"))
# --8<-- [end:escaping]

# --8<-- [start:counting]
template = Environment().from_string("{% for one in 'abc' %}{{ loop.index }} {% endfor %}")
print(template.render().strip())
# --8<-- [end:counting]
