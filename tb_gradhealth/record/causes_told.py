"""How a cause reads on the terminal."""

from tb_gradhealth.format.causes import Cause


def as_block(cause: Cause) -> str:
    """A cause as it is printed to the terminal."""
    who = ", ".join(cause.variables[:4])
    if len(cause.variables) > 4:
        who += f" and {len(cause.variables) - 4} more"
    head = f"tb_gradhealth: {cause.kind} gradient" + (f" of {who}" if who else "")
    return "\n  ".join([head, *str(cause).splitlines()])
