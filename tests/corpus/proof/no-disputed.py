def test_holds():
    assert True

def test_fails():
    assert False
