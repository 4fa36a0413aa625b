"""v1."""


def is_v1(gradients, owners):
    return False
