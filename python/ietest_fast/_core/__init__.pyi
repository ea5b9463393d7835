from . import runtime as runtime
