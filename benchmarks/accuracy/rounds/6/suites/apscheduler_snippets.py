from datetime import datetime, timezone

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger

# --8<-- [start:crontab]
def first_day():
    trigger = CronTrigger.from_crontab("0 9 * * 0", timezone="UTC")
    now = datetime(2025, 1, 1, tzinfo=timezone.utc)
    print(trigger.get_next_fire_time(None, now).strftime("%A"))
# --8<-- [end:crontab]


# --8<-- [start:same_id]
def tick():
    print("tick")


def configure():
    scheduler = BackgroundScheduler(timezone="UTC")
    scheduler.start(paused=True)
    try:
        scheduler.add_job(tick, "interval", minutes=5, id="ticker")
        scheduler.add_job(tick, "interval", minutes=10, id="ticker")
    finally:
        scheduler.shutdown()
# --8<-- [end:same_id]
