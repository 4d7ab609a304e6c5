"""Stores that the components of one flow share.

They are not kept in the module of the component: Langflow runs its text anew for each component.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

from skillpm.langflow._store import SkillStore

if TYPE_CHECKING:
    from pathlib import Path

# The stores that somebody holds, by the flow and the directories. A store asks its flow for the
# session and so keeps it alive: no other flow gets its number meanwhile.
_STORES: weakref.WeakValueDictionary[tuple[object, ...], SkillStore] = weakref.WeakValueDictionary()
_LOCK = threading.Lock()


def store_of(flow: Any, directories: list[Path]) -> SkillStore:
    """Return the store of ``directories`` that all who ask in ``flow`` get."""
    key = (id(flow), *(str(directory.absolute()) for directory in directories))
    with _LOCK:
        store = _STORES.get(key)
    if store is not None:
        return store
    # It looks for skills, and no other flow waits for that.
    store = SkillStore(*directories, session=lambda: str(flow.session_id or "") or None)
    with _LOCK:
        return _STORES.setdefault(key, store)


def forget(store: SkillStore | None) -> None:
    """Let ``store`` be found no more: the next one who asks gets another one."""
    with _LOCK:
        for key, known in list(_STORES.items()):
            if known is store:
                del _STORES[key]
