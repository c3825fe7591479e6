from bs4 import BeautifulSoup

# --8<-- [start:classes]
def show_classes():
    html = '<p class="lead intro" id="first">Welcome</p>'
    soup = BeautifulSoup(html, "html.parser")
    print(soup.p["class"])
# --8<-- [end:classes]


# --8<-- [start:joined_text]
def joined_text():
    html = "<ul> <li>one </li> <li> two</li> <!-- three --> </ul>"
    soup = BeautifulSoup(html, "html.parser")
    return soup.ul.get_text("|", strip=True)
# --8<-- [end:joined_text]
