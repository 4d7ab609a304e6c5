"""How a release of skillpm is put together; `packaging/README.md` describes it."""
