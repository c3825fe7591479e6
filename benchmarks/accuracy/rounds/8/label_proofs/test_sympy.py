import inspect, sys
from importlib.metadata import version
from pathlib import Path

import pytest
import sympy
from sympy import (FiniteSet, Float, GoldenRatio, Matrix, N, Rational, Symbol, exp, limit, nsimplify, oo, pi, solve,
                   solveset, sqrt, symbols)
from sympy.matrices import exceptions as mx

sys.path.insert(0, str(Path(__file__).parents[1] / "suites"))
import sympy_snippets as sn

x, y = symbols("x y")


def test_version():
    assert version("sympy") == "1.14.0"


def test_singular_inverse():
    with pytest.raises(mx.NonInvertibleMatrixError) as e:
        Matrix([[1, 2], [2, 4]]).inv()
    assert type(e.value) is mx.NonInvertibleMatrixError
    assert not isinstance(e.value, (ZeroDivisionError, mx.ShapeError, mx.NonSquareMatrixError))


def test_half_and_half(capsys):
    print(Float(0.5) == Rational(1, 2))
    assert capsys.readouterr().out == "False\n"


def test_precision_of_n():
    assert inspect.signature(N).parameters["n"].default == 15
    assert str(N(pi)) == "3.14159265358979" and len(str(N(pi)).replace(".", "")) == 15


def test_swap_symbols():
    assert sn.swapped() == 0 and sn.swapped() != x - y and sn.swapped() != y - x


def test_solve_and_solveset():
    a, b = solve(x**2 - 1, x), solveset(x**2 - 1, x)
    assert type(a) is list and a == [-1, 1]
    assert type(b) is FiniteSet and isinstance(b, sympy.Set) and not isinstance(b, (set, frozenset)) and b == FiniteSet(-1, 1)


def test_root_of_a_square():
    r = sqrt(x**2)
    assert r != x and r.evalf() != x and r.doit() != x              # B, C wrong
    assert x + x == 2 * x and sqrt(sympy.Integer(4)) == 2          # automatic simplification is on: A wrong
    p = Symbol("x", positive=True)
    assert sqrt(p**2) == p
    assert sqrt(sympy.Integer(-3) ** 2) == 3 and x.is_positive is None


def test_symbols_of_expression():
    expr = x + 2 * y
    assert expr.free_symbols == {x, y} == expr.atoms(Symbol)
    assert set(expr.args) == {x, 2 * y} and not hasattr(expr, "symbols")


def test_order_of_series(capsys):
    print(exp(x).series(x))
    assert capsys.readouterr().out.strip().endswith("+ O(x**6)")


def test_pole_at_zero():
    assert limit(1 / x, x, 0) is oo
    assert limit(1 / x, x, 0, "+-") is sympy.zoo


def test_api_exact_from_decimal():
    from sympy.simplify.simplify import nsimplify as same
    assert same is nsimplify is sympy.nsimplify
    assert nsimplify(1.6180339887498949, [GoldenRatio]) == GoldenRatio or nsimplify(1.6180339887498949) == (1 + sqrt(5)) / 2
    assert nsimplify(6.28318530717959, [pi]) == 2 * pi


def test_api_eigenvectors_of_matrix():
    from sympy.matrices.dense import MutableDenseMatrix
    assert sympy.Matrix is MutableDenseMatrix and not hasattr(Matrix, "eigenvectors")
    with pytest.raises(AttributeError):
        Matrix([[2]]).eigenvectors()
    assert Matrix([[2]]).eigenvects() == [(2, 1, [Matrix([1])])]
