"""
The clock of the mock provider.
"""

import asyncio
from datetime import UTC, datetime

import pytest

from assistant_events.mock.clock import ScaledClock


def test_scaled():
    """
    A thousand seconds of the provider are one of the wall at a scale of a thousandth.
    """
    clock = ScaledClock(0.001)
    before = clock.now()

    async def main():
        await clock.wait(asyncio.Event(), 20.0)

    asyncio.run(main())

    assert clock.now() - before >= 19.0
    assert 0.02 == clock.real(20.0)


def test_waiting_ends_early():
    """
    Who waits is woken when something changes, also who waits for ever.
    """

    async def main(seconds):
        changed = asyncio.Event()
        waiting = asyncio.create_task(ScaledClock().wait(changed, seconds))
        await asyncio.sleep(0)
        changed.set()
        await asyncio.wait_for(waiting, 10)
        return True

    assert asyncio.run(main(3600.0))
    assert asyncio.run(main(None))


def test_the_time_of_day_is_passed_in():
    """
    The time of day comes from outside, and is UTC by default.
    """
    noon = datetime(2026, 11, 22, 12, tzinfo=UTC)

    assert noon == ScaledClock(utc=lambda: noon).utc()
    assert UTC is ScaledClock().utc().tzinfo


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), 1e-320, 1e10, "1"])
def test_scales_that_there_are_not(scale):
    """
    A scale is a number with which times stay numbers.
    """
    with pytest.raises(ValueError, match="time_scale: expected real seconds for each second, from 1e-9 to 1e9, got"):
        ScaledClock(scale)
