"""Packaging of tb_gradhealth."""

from setuptools import find_packages, setup

setup(
    name="tb_gradhealth",
    version="0.1.0",
    packages=find_packages(include=["tb_gradhealth", "tb_gradhealth.*"]),
    python_requires=">=3.10",
    install_requires=["tensorboard>=2.16", "protobuf>=3.20.3", "numpy"],
    extras_require={"tensorflow": ["tensorflow>=2.16"]},
    entry_points={
        "tensorboard_plugins": ["gradhealth = tb_gradhealth.serve.loader:GradHealthLoader"],
        "console_scripts": ["tb-gradhealth = tb_gradhealth.__main__:main"],
    },
)
