import contextlib, importlib, inspect, io, pathlib, sys, threading, time
from datetime import datetime, timedelta, timezone
from importlib.metadata import version

import pytest
from apscheduler import events
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.base import ConflictingIdError, JobLookupError
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.schedulers import SchedulerNotRunningError
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.schedulers.base import BaseScheduler
from apscheduler.schedulers.blocking import BlockingScheduler
from apscheduler.triggers.calendarinterval import CalendarIntervalTrigger
from apscheduler.triggers.combining import OrTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.date import DateTrigger
from apscheduler.triggers.interval import IntervalTrigger

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "suites"))
import apscheduler_snippets as snippets

UTC = timezone.utc


@pytest.fixture
def scheduler():
    s = BackgroundScheduler(timezone="UTC")
    s.start(paused=True)
    yield s
    s.shutdown()


def test_version():
    assert version("APScheduler") == "3.11.3"


def test_import_background():
    for module in ("apscheduler", "apscheduler.schedulers"):
        assert not hasattr(importlib.import_module(module), "BackgroundScheduler")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("apscheduler.background")


def test_misfire_default(scheduler):
    assert scheduler.add_job(print, "interval", hours=1).misfire_grace_time == 1


def test_crontab_weekday():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        snippets.first_day()
    assert out.getvalue() == "Monday\n"


def test_register_function(scheduler):
    assert callable(scheduler.add_job)
    for name in ("add_schedule", "add_task", "register"):
        assert not hasattr(scheduler, name)


def test_started_event():
    for name in ("EVENT_SCHEDULER_STARTED", "EVENT_SCHEDULER_START"):
        seen = []
        s = BackgroundScheduler(timezone="UTC")
        s.add_listener(seen.append, getattr(events, name))
        s.start(paused=True)
        s.shutdown()
        assert [e.code for e in seen] == [events.EVENT_SCHEDULER_STARTED]
    assert not hasattr(events, "EVENT_SCHEDULER_RUNNING") and not hasattr(events, "EVENT_STARTED")


@pytest.mark.parametrize("coalesce, runs", [(True, 1), (False, 4)])
def test_purpose_coalesce(coalesce, runs):
    class Foreground(BlockingScheduler):
        def start(self):
            self._event = threading.Event()
            BaseScheduler.start(self)
    s = Foreground(timezone="UTC", executors={"default": {"type": "debug"}})
    calls = []
    s.add_job(lambda: calls.append(1), "interval", hours=1, coalesce=coalesce, misfire_grace_time=None,
              next_run_time=datetime.now(UTC) - timedelta(hours=3, minutes=30))
    s.start()
    s._process_jobs()
    assert len(calls) == runs
    assert s.get_jobs()[0].max_instances == 1
    s.shutdown()


def test_same_id_twice():
    with pytest.raises(ConflictingIdError) as info:
        snippets.configure()
    assert not isinstance(info.value, JobLookupError)


def test_catch_remove_job(scheduler):
    for exception in (JobLookupError, KeyError):
        with pytest.raises(exception):
            scheduler.remove_job("cleanup")
    assert not issubclass(JobLookupError, (ValueError, SchedulerNotRunningError))


def test_get_job_missing():
    s = BackgroundScheduler(timezone="UTC")
    s.start()
    try:
        assert s.get_job("does-not-exist") is None
    finally:
        s.shutdown()


def test_blocking_or_background():
    s = BackgroundScheduler(timezone="UTC")
    s.start()  # returns, without any event loop (not D)
    assert s.running and s._thread.is_alive()
    assert isinstance(s._jobstores["default"], MemoryJobStore)  # not C
    s.shutdown()
    b = BlockingScheduler(timezone="UTC")
    t = threading.Thread(target=b.start)
    t.start()
    time.sleep(0.5)
    assert t.is_alive() and b.running  # start() has not returned
    assert isinstance(b._executors["default"], ThreadPoolExecutor)  # not A
    assert isinstance(b._jobstores["default"], MemoryJobStore)
    b.shutdown()
    t.join(5)
    assert not t.is_alive()


def test_every_two_months():
    t = CalendarIntervalTrigger(months=2, hour=8, start_date="2025-01-10", timezone="UTC")
    first = t.get_next_fire_time(None, datetime(2025, 1, 1, tzinfo=UTC))
    second = t.get_next_fire_time(first, first)
    assert (first, second) == (datetime(2025, 1, 10, 8, tzinfo=UTC), datetime(2025, 3, 10, 8, tzinfo=UTC))
    for other in (IntervalTrigger, CronTrigger, DateTrigger):
        with pytest.raises(TypeError):
            other(months=2)


def test_effect_of_jitter():
    t = CronTrigger(hour=12, timezone="UTC", jitter=120)
    exact = datetime(2025, 1, 1, 12, tzinfo=UTC)
    offsets = [(t.get_next_fire_time(None, datetime(2025, 1, 1, tzinfo=UTC)) - exact).total_seconds() for _ in range(2000)]
    assert 0 <= min(offsets) < 10 and 110 < max(offsets) <= 120  # not A, not C
    # not D: fire times each minute are not skipped
    every = CronTrigger(minute="*", timezone="UTC", jitter=120)
    assert every.get_next_fire_time(exact, exact + timedelta(seconds=1)) < exact + timedelta(seconds=60 + 120)


def test_any_of_triggers():
    now = datetime(2025, 1, 1, tzinfo=UTC)
    t = OrTrigger([CronTrigger(hour=5, timezone="UTC"), CronTrigger(hour=3, timezone="UTC")])
    first = t.get_next_fire_time(None, now)
    assert first.hour == 3
    assert t.get_next_fire_time(first, first + timedelta(seconds=1)).hour == 5


def test_new_trigger_for_job(scheduler):
    job = scheduler.add_job(print, "interval", hours=1, id="x")
    before = job.next_run_time
    scheduler.reschedule_job("x", trigger="interval", hours=7)
    assert job.trigger.interval == timedelta(hours=7) and job.next_run_time != before
    assert hasattr(BaseScheduler, "reschedule_job")
