DISPUTED = 'x'
def test_holds():
    pass
def test_does_not_hold():
    pass
