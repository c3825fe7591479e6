from pyparsing import Suppress, Word, alphas, nums


# --8<-- [start:first_word]
def first_word():
    word = Word(alphas)
    return word.parse_string("abc 123").as_list()
# --8<-- [end:first_word]


# --8<-- [start:point]
def parse_point():
    point = Word(nums)("x") + Suppress(",") + Word(nums)("y")
    return point.parse_string("3, 4").as_dict()
# --8<-- [end:point]
