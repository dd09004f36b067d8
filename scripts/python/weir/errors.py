# SPDX-License-Identifier: GPL-2.0-only
"""What can be wrong with an input, as one line each."""


class InputError(ValueError):
    """Wrong input: the message says where, what was found and what was expected."""


class Missing(Exception):
    """A result lacks the data of a figure: what is missing, and how to get it."""

    def __init__(self, what, remedy):
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy
