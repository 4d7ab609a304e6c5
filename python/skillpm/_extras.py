"""What is raised where a package that an adapter needs is missing."""

from __future__ import annotations


def missing(
    error: ModuleNotFoundError, adapter: str, package: str, *roots: str
) -> ModuleNotFoundError:
    """Return what to raise of a package that is not installed: which extra brings it.

    Args:
        error: What the import raised. If another module is missing, it is returned as it is.
        adapter: The module of skillpm, which needs the package.
        package: The name of the package and of the extra.
        roots: The modules of the package.

    """
    if (error.name or "").partition(".")[0] not in roots:
        return error
    extra = adapter.rpartition(".")[2].replace("_", "-")
    return ModuleNotFoundError(
        f"`{adapter}` needs the package `{package}`: "
        f'install it with `pip install "skillpm-py[{extra}]"`',
        name=error.name,
    )
