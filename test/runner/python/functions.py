"""A model of functions alone."""

from pathlib import Path


def words(text):
    return text.split()


def here():
    return Path(__file__).name
