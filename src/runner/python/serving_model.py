"""Imports the file of a model, and tells where an error came from."""

import importlib.util
import inspect
import os
import sys
import traceback
import types

OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


def loaded(path, class_name, init):
    """Imports the file of a model, and makes an object of its class, if it has one."""
    sys.path[0] = os.path.dirname(path)
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ValueError(f"expected a file of Python, as model.py, for the model, received {path}")
    module = importlib.util.module_from_spec(spec)
    # Pickles name it.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    maker = getattr(module, class_name or "Model", None)
    if maker is None and class_name:
        raise AttributeError(f"expected a class {class_name} in {path}")
    if maker is not None:
        return maker(**(init or {}))
    if init:
        raise ValueError(f"init needs a class Model in {path}")
    return module


def method_of(model, name, path):
    """Returns a method, and whether it takes an input and the parameter `call`."""
    method = getattr(model, name, None)
    if not callable(method):
        owner = "" if isinstance(model, types.ModuleType) else f" of the class {type(model).__name__}"
        raise AttributeError(f"expected a method {name}{owner} in {path}")
    try:
        parameters = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):
        return method, True, False
    named_only = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    takes_input = any(each.kind not in named_only and each.name != "call" for each in parameters)
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    optional = [each for each in parameters if each.kind in variadic or each.default is not each.empty]
    needed = [each.name for each in parameters if each not in optional and each.name != "call"]
    if len(needed) > 1:
        received = f"received ({', '.join(needed)})"
        raise ValueError(f"expected a method {name} of one argument, and call, in {path}, {received}")
    return method, takes_input, any(each.name == "call" for each in parameters)


def frames_of(error):
    """Returns the frames of a traceback that are not ours or of Python's importer."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith((OWN_FOLDER, "<frozen"))]
    return own or frames[-1:]


def trace_of(error):
    lines = traceback.format_list(frames_of(error))
    last = traceback.format_exception_only(type(error), error)
    return "".join(["Traceback (most recent call last):\n", *lines, *last])


def place_of(error):
    """Returns an error in one line, with the file and line of the model that it came from."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}"
    if isinstance(error, ModuleNotFoundError):
        text += "; the packages of the runner can name it"
    model = [frame for frame in frames_of(error) if frame.filename.startswith(sys.path[0] + os.sep)]
    if not model:
        return text
    return f"{model[-1].filename}:{model[-1].lineno}: {text}"
