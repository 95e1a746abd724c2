"""awaited - what a handler returned, be it a function or an async function."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def awaited(result: Any) -> Any:
    if not hasattr(result, "__await__"):
        return result
    import asyncio

    async def wait() -> Any:
        return await result
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    # The caller is a coroutine, as in a test with pytest-asyncio: a thread has a loop of its own.
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, wait()).result()
