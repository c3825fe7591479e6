def test_holds(:
