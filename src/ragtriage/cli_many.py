"""Options of which a shell's glob gives several values at once."""

from __future__ import annotations

from collections.abc import Iterable

import click

_MANY = "--against"


class ManyAgainst(click.Command):
    """A command whose `--against` takes all names up to the next option.

    Names before it are arguments; where there are none, the first name alone is its value, so that
    options may come first.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as if the option stood before each of its names."""
        lone = [p for p in self.get_params(ctx) if isinstance(p, click.Option) and p.is_flag]
        return super().parse_args(ctx, spread(args, {name for p in lone for name in p.opts}))


def spread(args: Iterable[str], flags: set[str]) -> list[str]:
    """The arguments with `--against` before each of its names.

    Args:
        args: as given.
        flags: the options that take no value.
    """
    spelt: list[str] = []
    argued = many = awaited = False
    words = iter(args)
    for word in words:
        if word == "--":
            return [*spelt, word, *words]
        if awaited or word == "-" or not word.startswith("-"):
            if not awaited and many and argued:
                spelt.append(_MANY)
            elif not awaited:
                argued, many = True, False
            awaited = False
        else:
            name, _, value = word.partition("=")
            many = name == _MANY
            awaited = not value and name not in flags
        spelt.append(word)
    return spelt
