"""Amounts, and the words for them: units by dimension, numbers, months and weekdays."""

from dataclasses import dataclass
from math import isclose

from recollect.policy.clues.lexicon import stem


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount of something: of a dimension, or of what is counted."""

    dimension: str
    amount: float
    said: str
    unit: str = ""
    nouns: frozenset[str] = frozenset()
    """What is counted, where the dimension is a plain count."""

    def agrees(self, other: "Quantity") -> bool:
        """Whether both are the same amount: to the digit in the same unit, nearly where one was converted."""
        near = 0.0 if self.unit == other.unit else 0.03
        return isclose(self.amount, other.amount, rel_tol=near, abs_tol=1e-9)


_UP_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
SMALL: dict[str, int] = {word: n for n, word in enumerate(_UP_TO_NINETEEN.split())}
TENS: dict[str, int] = {
    word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
TIMES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 10**9, "dozen": 12, "score": 20}
SEVERAL = {"couple": 2, "pair": 2, "both": 2, "twins": 2, "triplets": 3, "dozen": 12}
PARTS = {"half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5, "fifths": 5,
          "tenth": 10, "tenths": 10, "eighth": 8, "eighths": 8}  # fmt: skip
_MONTHS = "january february march april may june july august september october november december".split()
MONTHS: dict[str, int] = {name: n for n, name in enumerate(_MONTHS, 1)} | {
    name[:3]: n for n, name in enumerate(_MONTHS, 1) if name != "may"
}
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
WEEKDAYS: dict[str, int] = {word: n for n, day in enumerate(_WEEKDAYS) for word in (day, day + "s", day[:3])} | {
    "tues": 1,
    "thurs": 3,
}
CALENDAR: dict[str, tuple[str, int]] = {f"{word}#": ("month", n) for word, n in MONTHS.items()} | {
    f"{word}#": ("weekday", n) for word, n in WEEKDAYS.items()
}
HOURS = {"noon": 720, "midday": 720, "midnight": 0}

UNITS: dict[str, tuple[str, float]] = {
    stem(word): (dimension, size)
    for dimension, sizes in {
        "length": "mm:.001 millimetre:.001 millimeter:.001 cm:.01 centimetre:.01 centimeter:.01 m:1 metre:1 meter:1 "
        "km:1000 kilometre:1000 kilometer:1000 mile:1609.34 mi:1609.34 foot:.3048 feet:.3048 ft:.3048 inch:.0254 "
        "inche:.0254 yard:.9144",
        "mass": "g:.001 gram:.001 gramme:.001 mg:.000001 milligram:.000001 microgram:1e-9 µg:1e-9 mcg:1e-9 kg:1 "
        "kilo:1 kilogram:1 tonne:1000 ton:1000 pound:.4536 lb:.4536 ounce:.02835 oz:.02835 stone:6.35",
        "volume": "ml:.001 millilitre:.001 milliliter:.001 cl:.01 dl:.1 decilitre:.1 l:1 litre:1 liter:1 pint:.568 "
        "gallon:4.2 hectolitre:100",
        "span": "s:1 ms:.001 millisecond:.001 sec:1 second:1 min:60 minute:60 h:3600 hr:3600 hour:3600 day:86400 "
        "night:86400 week:604800 fortnight:1209600 month:2592000 year:31536000 decade:315360000 century:3153600000",
        "data": "byte:1 kb:1e3 kilobyte:1e3 mb:1e6 megabyte:1e6 gb:1e9 gigabyte:1e9 gig:1e9 tb:1e12 terabyte:1e12 "
        "kib:1024 mib:1048576 gib:1073741824 kibibyte:1024 mebibyte:1048576 gibibyte:1073741824",
        "share": "%:.01 percent:.01",
        "area": "hectare:10000 ha:10000 acre:4046.9",
        "power": "w:1 watt:1 kw:1000 kilowatt:1000 mw:1e6",
        "energy": "kcal:1 calorie:1 kwh:860",
        "rate": "kbit:1e3 kilobit:1e3 mbit:1e6 megabit:1e6 gbit:1e9 gigabit:1e9 kbps:1e3 mbps:1e6 gbps:1e9",
        "money eur": "euro:1 €:1 eur:1 cent:.01",
        "money usd": "dollar:1 $:1 usd:1",
        "money gbp": "£:1 gbp:1 quid:1 pence:.01",
        "money sek": "krona:1 kronor:1 sek:1",
        "money try": "lira:1",
        "money nok": "kr:1 kroner:1 nok:1 krone:1",
        "money chf": "franc:1 chf:1",
        "money jpy": "yen:1 ¥:1",
        "money inr": "rupee:1 inr:1",
        "money pln": "zloty:1 pln:1 złoty:1",
    }.items()
    for word, size in ((one.split(":")[0], float(one.split(":")[1])) for one in sizes.split())
}
SIGNS = frozenset("€$£¥")
BREAKS = frozenset(".,;:!?")
PERIODS = {"hourly": 3600.0, "daily": 86400.0, "nightly": 86400.0, "weekly": 604800.0, "fortnightly": 1209600.0,
            "monthly": 2592000.0, "quarterly": 7776000.0, "yearly": 31536000.0, "annually": 31536000.0,
            "annual": 31536000.0, "biweekly": 1209600.0}  # fmt: skip
FREQUENT = {"once": 1, "twice": 2, "thrice": 3}
BOUNDS = frozenset("within under than for in about almost nearly full takes lasts lasted over after".split())
