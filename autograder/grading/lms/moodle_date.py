"""Read the dates that Moodle writes for people, such as "Monday, 5 October 2026, 11:00 AM".

They are in the teacher's language and time zone. Only the name of the month depends on the
language; Moodle's language packs put the day, the year and the time in different orders.
"""

import re
from datetime import UTC, datetime, tzinfo

LANGUAGES = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "januar februar marts april maj juni juli august september oktober november december",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada"
    " grudnia",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
)
MONTHS = {name: number for names in LANGUAGES for number, name in enumerate(names.split(), start=1)}
TIME = re.compile(r"(?<!\d)(\d{1,2})[:.](\d\d)(?!\d)(?:\s*([ap])\.?m\b)?", re.IGNORECASE)
YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
MONTH = re.compile(r"\d{1,2}月|[^\W\d_]+")
DAY = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
LONGEST = 100  # characters


def read_moodle_date(text: str, zone: tzinfo | None) -> datetime | None:
    """Return a date in UTC, without a time zone; None if it can't be read.

    zone: the time zone of the date; None for the machine's.
    """
    text = text[:LONGEST].casefold()
    words = [word for word in MONTH.findall(text) if word in MONTHS]
    time, years = TIME.findall(text), YEAR.findall(text)
    rest = TIME.sub(" ", YEAR.sub(" ", text)).replace(words[0] if words else "", " ")
    days = DAY.findall(rest)
    if not len(words) == len(time) == len(years) == len(days) == 1:
        return None
    [(hour, minute, half)] = time
    hour = int(hour) % 12 + 12 * (half == "p") if half else int(hour)
    try:
        date = datetime(int(years[0]), MONTHS[words[0]], int(days[0]), hour, int(minute))
        return date.replace(tzinfo=zone).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):  # such as February 30
        return None
