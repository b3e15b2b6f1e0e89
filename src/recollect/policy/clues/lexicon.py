"""The words by which rules tell how two statements stand to each other."""

from functools import lru_cache

EMPTY = frozenset(
    "a an the is are was were be been being am do does did done has have had having of to in on at by for from with "
    "and or but as that this these those it its his her hers him their them theirs our ours us my mine your he she "
    "they we i you me there here so very just will would shall can could should than then which who whom whose what "
    "when where while if into onto over under up down out off about around through per via own any every each all "
    "some more most much many few also too still yet already even s t d ll re ve m get gets got one's not no nor "
    "himself herself itself themselves".split()
)
NEGATIONS = frozenset(
    "not no never none neither nor cannot without nobody nothing nowhere hardly barely isn't aren't wasn't weren't "
    "don't doesn't didn't can't couldn't won't wouldn't hasn't haven't hadn't shouldn't mustn't needn't ain't".split()
)

NO_MORE = frozenset("but else other only more later less fewer longer sooner earlier".split())
"""After these a "no" or "not" bounds what is said, and does not deny it: "nothing but", "no more than"."""

_IRREGULAR: dict[str, str] = {
    word: root
    for word, _, root in (
        pair.partition("/")
        for pair in "went/go gone/go bought/buy sold/sell left/leave kept/keep paid/pay ran/run men/man women/woman "
        "children/child kids/child kid/child gave/give given/give took/take taken/take made/make told/tell said/say "
        "taught/teach wrote/write written/write spoke/speak spoken/speak ate/eat eaten/eat drank/drink drove/drive "
        "driven/drive slept/sleep met/meet lent/lend spent/spend built/build sent/send held/hold stood/stand won/win "
        "lost/lose began/begin begun/begin became/become came/come grew/grow grown/grow knew/know known/know saw/see "
        "seen/see wore/wear worn/wear rode/ride sang/sing swam/swim flew/fly chose/choose chosen/choose fell/fall "
        "felt/feel found/find got/get brought/bring thought/think led/lead fed/feed hung/hang lay/lie wives/wife "
        "feet/foot teeth/tooth mice/mouse halves/half better/good best/good worse/bad worst/bad apartment/flat "
        "purchase/buy permit/allow start/begin commence/begin finish/end mum/mother mom/mother "
        "dad/father automobile/car physician/doctor holiday/vacation tv/television bike/bicycle".split()
    )
}


_ENDINGS = (
    ("ies", 5, "y"), ("ied", 5, "y"), ("ing", 6, ""), ("edly", 7, ""), ("ed", 5, ""), ("ly", 6, ""),
    ("sses", 6, "ss"), ("shes", 6, "sh"), ("ches", 6, "ch"), ("xes", 5, "x"), ("s", 4, ""),
)  # fmt: skip
"""An ending, how long a word must be to have it, and what stands in its place."""


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """A word without its ending, so that "moved" and "moving" are one. Crude, and the same for both statements."""
    cut = _cut(_IRREGULAR.get(word, word))
    return _cut(_IRREGULAR[cut]) if cut in _IRREGULAR else cut


def _cut(word: str) -> str:
    for ending, least, instead in _ENDINGS:
        if len(word) >= least and word.endswith(ending) and not word.endswith(("ss", "us", "is")):
            word = word[: -len(ending)] + instead
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


_OPPOSITES = """
love/hate like/dislike enjoy/detest adore/loathe prefer/avoid early/late open/closed open/shut allow/forbid
allow/prohibit allow/ban allowed/forbidden permitted/prohibited on/off enable/disable enabled/disabled indoor/outdoor
indoors/outdoors remote/office inside/outside always/never everybody/nobody everyone/nobody everything/nothing
all/none before/after first/last more/less most/least high/low higher/lower highest/lowest tall/short long/short
longer/shorter big/small bigger/smaller large/small larger/smaller large/tiny huge/tiny old/new old/young
older/younger oldest/youngest elder/younger eldest/youngest hot/cold warm/cold warm/cool fast/slow faster/slower
quick/slow cheap/expensive cheap/dear free/paid rich/poor heavy/light dark/light dark/bright bright/dim loud/quiet
noisy/quiet noisy/silent full/empty wet/dry clean/dirty hard/soft hard/easy difficult/easy difficult/simple
simple/complex strong/weak stronger/weaker thick/thin wide/narrow deep/shallow near/far close/far left/right up/down
upstairs/downstairs above/below over/under top/bottom front/back north/south east/west northern/southern
eastern/western begin/end start/stop start/finish began/stopped begun/finished open/resolved open/fixed pass/fail
passed/failed win/lose won/lost success/failure succeed/fail accept/refuse accept/reject accept/decline
accepted/refused accepted/rejected approve/reject approved/rejected approved/denied grant/deny buy/sell bought/sold
lend/borrow give/take rent/own rented/owned own/lease let/own push/pull add/remove added/removed insert/delete
keep/discard kept/deleted keep/drop kept/dropped keep/sell hire/fire hired/fired join/leave joined/left enter/leave
arrive/leave come/go stay/leave stay/move save/spend earn/spend gain/lose increase/decrease increase/reduce rise/fall
raise/lower grow/shrink expand/shrink up/below married/single married/divorced married/unmarried single/engaged
employed/unemployed alive/dead living/dead alive/died born/died healthy/ill healthy/sick well/ill well/sick
vegetarian/meat vegan/meat vegan/cheese vegan/dairy sober/drunk teetotal/wine public/private internal/external
local/remote local/cloud manual/automatic manual/automated manually/automatically synchronous/asynchronous sync/async
online/offline online/paper digital/paper digital/analogue paper/electronic wired/wireless mandatory/optional
required/optional compulsory/voluntary compulsory/optional necessary/unnecessary legal/illegal valid/invalid
active/inactive active/retired active/dormant visible/hidden visible/invisible known/unknown stable/unstable
safe/dangerous safe/unsafe secure/insecure encrypted/plain encrypted/plaintext encrypted/unencrypted compressed/raw
tested/untested mutable/immutable deprecated/recommended supported/unsupported supported/dropped paid/unpaid
finished/unfinished complete/incomplete finished/pending done/pending open/done ready/unfinished merged/unmerged
merged/reverted shipped/postponed booked/cancelled confirmed/cancelled planned/cancelled scheduled/cancelled
postponed/held signed/unsigned locked/unlocked broken/working broken/fixed broken/intact works/broken whole/broken
same/different equal/unequal together/apart together/alone together/separately alone/shared alone/company alone/others
shared/private shared/separate single/several one/several single/many unique/duplicate permanent/temporary
permanently/temporarily regular/irregular often/rarely often/seldom frequently/rarely frequently/seldom usually/rarely
daily/weekly daily/monthly weekly/monthly weekly/yearly monthly/yearly monthly/annually quarterly/monthly
quarterly/yearly hourly/daily nightly/weekly day/night morning/evening morning/afternoon morning/night
afternoon/evening breakfast/dinner breakfast/bedtime noon/midnight summer/winter spring/autumn sunrise/sunset
weekday/weekend weekdays/weekends vacation/work city/country urban/rural town/village centre/outskirts coast/inland
domestic/foreign native/foreign import/export upload/download encrypt/decrypt send/receive sender/receiver
teacher/pupil lender/borrower landlord/tenant buyer/seller client/server host/guest employer/employee boss/subordinate
husband/wife mother/father son/daughter brother/sister boy/girl man/woman male/female king/queen uncle/aunt cat/dog
tea/coffee beer/wine sweet/savoury sweet/bitter sweet/sour mild/spicy mild/hot raw/cooked fresh/frozen fresh/stale
fresh/canned black/white red/green red/blue blue/green red/white black/red gas/electric electric/diesel
petrol/electric diesel/petrol induction/gas wood/metal wood/plastic glass/plastic handmade/industrial car/bicycle
car/train train/plane tram/bus train/bus bicycle/bus foot/car stairs/lift ferry/plane lefthanded/righthanded
nearsighted/farsighted deaf/hearing blind/sighted introvert/extrovert shy/outgoing brave/afraid fearless/afraid
calm/nervous patient/impatient polite/rude honest/dishonest generous/stingy tidy/messy punctual/late
optimist/pessimist confident/unsure sure/unsure happy/unhappy happy/sad satisfied/dissatisfied pleased/annoyed
agree/disagree trust/distrust believe/doubt remember/forget support/oppose favour/oppose for/against pro/contra
win/loss profit/loss surplus/deficit asset/debt creditor/debtor credit/debit frontend/backend monolith/microservices
relational/document sql/nosql closed-source/open-source compiled/interpreted static/dynamic typed/untyped tabs/spaces
light/strict lenient/strict strict/relaxed include/exclude included/excluded included/extra inclusive/exclusive
attend/skip attended/missed present/absent ascending/descending forward/backward horizontal/vertical
portrait/landscape odd/even positive/negative plus/minus maximum/minimum max/min majority/minority whole/half
entire/partial fully/partly completely/partly major/minor senior/junior primary/secondary main/secondary original/copy
natural/artificial real/fake genuine/fake true/false right/wrong correct/incorrect accurate/inaccurate
possible/impossible able/unable willing/unwilling likely/unlikely
""".split()


def _opposites() -> dict[str, frozenset[str]]:
    made: dict[str, set[str]] = {}
    for pair in _OPPOSITES:
        one, other = (stem(word) for word in pair.split("/"))
        made.setdefault(one, set()).add(other)
        made.setdefault(other, set()).add(one)
    return {word: frozenset(others - {word}) for word, others in made.items()}


OPPOSITES = _opposites()

_MARKS = {
    "changed": "moved moves quit sold cancelled canceled switched replaced replaces stopped retired divorced resigned "
    "dropped abandoned migrated renamed ended closed died scrapped deleted removed expired withdrew withdrawn reversed "
    "anymore nowadays instead became becomes swapped dissolved discontinued revoked lifted gone scrap defunct | "
    "no longer,called off,is now,are now,has become,have become,gave up,given up,went back,given back,has since,any "
    "more,turned into,now has,now have,by now,was closed,was cancelled,was moved,was replaced",
    "past": "formerly previously once originally initially ago former earlier childhood youth ex | used to,back "
    "then,in those,at first,until then,years ago,long ago,had been,before the,before she,before he",
    "planned": "if might considering considers someday plans planned intends hopes wants wishes maybe perhaps possibly "
    "thinking proposes proposed suggests suggested suggestion idea plan hope wish dream dreams imagine unless talks "
    "discussing debating wonders toys toying weighing asked offered aims may | would like,would be,plans to,wants "
    "to,thinking of,means to,may be,going to,is being,next year,next month,next week,will be,would rather,would sooner",
    "opinion": "thinks believes says said claims claimed finds calls feels suspects reckons argues complains complain "
    "complained opinion according jokes insists considers told rumour rumours envies admires mocks regrets minds "
    "doubts swears maintains disagrees agrees praises guesses heard annoys laughs | would prefer,according to",
    "also": "also another besides too additionally further likewise both additional second moreover | as "
    "well,in addition,one of,among other,apart from,besides the,the other",
    "other": "other others neighbour neighbours neighbor neighbors brother sister wife husband cousin colleague "
    "flatmate twin competitor rival uncle aunt mother father son daughter friend friends opposite elsewhere parents "
    "grandmother grandfather predecessor nephew niece | next door,across the,the old,the other,his own,her own",
    "reason": "because therefore hence thanks owing due thus reason | so that,for fear,thanks to,in order,"
    "because of,owing to,due to",
    "since": "since still | ever since,has been,have been,as of,and still,to this",
    "until": "until till",
    "all": "all every always each entire everything everyone everybody whole fully any entirely exclusively completely "
    "everywhere constantly | without exception,at all,nothing but,no exceptions",
    "never": "never none nobody nothing no nowhere | not one,not a,not once,no one",
    "only": "only solely exclusively just merely alone sole nothing | nothing but,no other,nobody but,none but,"
    "nowhere else,nobody else",
    "some": "some most often sometimes several few many usually mostly occasionally half partly rarely seldom "
    "frequently except regularly two three largely chiefly various numerous certain sporadically | now and,from time,"
    "a few,a couple,some of,most of,at times,at least,up to,except for,every other",
    "about": "about roughly around approximately nearly almost circa some | more or,or so,close to",
    "passive": "by | ",
    "lacking": "lacks lack lacking missing absent refuses refused declines avoids fails failed free forbidden banned "
    "prohibited unable impossible rejects rejected denied denies dispenses abstains | free of,free from,instead of,"
    "rather than,short of,anything but,far from,fewer than,less than",
    "before": "before beforehand prior ahead | in advance",
    "after": "after afterwards following later | ",
    "may": "may allowed permitted allows permits welcome free can | free to,has permission",
    "must": "must mandatory required obliged compulsory forbidden banned prohibited needs | has to,have to,may not,"
    "must not,not allowed,are not,not permitted",
}


def _marked() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    words: dict[str, tuple[str, ...]] = {}
    phrases: dict[str, tuple[str, ...]] = {}
    for mark, listed in _MARKS.items():
        single, _, double = listed.partition(" | ")
        for word in set(single.split()):
            words[word] = (*words.get(word, ()), mark)
        for phrase in {one.strip() for one in double.split(",") if one.strip()}:
            phrases[phrase] = (*phrases.get(phrase, ()), mark)
    return words, phrases


MARKS, PHRASES = _marked()
"""What a word, or two in a row, are a mark of."""

_SCOPES = (
    "weekday weekdays|weekend weekends;staging stage|production prod live|test testing|development dev;"
    "home|work office;morning mornings|afternoon afternoons|evening evenings|night nights;"
    "android|ios iphone ipad|web browser|desktop;linux|windows|macos mac;"
    "summer summers|winter winters|spring|autumn;left|right;frontend client|backend server;free|paid|enterprise;"
    "internal|external;adult adults|child children;indoors|outdoors;upper|lower;front|back;first|second|third;"
    "monday mondays|tuesday tuesdays|wednesday wednesdays|thursday thursdays|friday fridays|saturday saturdays|"
    "sunday sundays"
)
SCOPES: dict[str, tuple[int, int]] = {
    stem(word): (number, place)
    for number, group in enumerate(_SCOPES.split(";"))
    for place, words in enumerate(group.split("|"))
    for word in words.split()
}
"""Words that bound what is said, by the group in which they exclude each other."""

SINGLE = frozenset(
    stem(word)
    for word in "live lives living called named name favourite favorite port version owner owned runs based married "
    "born age aged old birthday capital deadline due starts begins ends opens closes located stands lies hosted stored "
    "kept written built leads lead manager boss head reports belongs costs cost price salary rent weighs weight height "
    "tall long wide limit maximum minimum default timeout expires retention password colour color size address number "
    "blood native mother tongue surname works employer studies reads deploys deployed budget seat seats holds".split()
)
"""Words of statements that hold for one value only."""

MANY = frozenset(
    stem(word)
    for word in "speaks speak owns own likes like loves uses use knows plays visited visits read collects grows sells "
    "has teaches supports includes contains offers enjoys eats drinks member friend pet pets languages hobby".split()
)
"""Words of statements that several values can hold for."""

LIKED = frozenset(
    stem(word)
    for word in "love like enjoy prefer favourite favorite fond adore keen favour welcome delight pleasure happy glad "
    "fan treasure appreciate relish gladly willingly wonderful delicious".split()
)
DISLIKED = frozenset(
    stem(word)
    for word in "hate dislike detest loathe despise dread dreadful awful horrible disgusting avoid refuse fear afraid "
    "annoy unbearable resent sick tired bored complain object oppose bear".split()
)
"""Words of liking and its opposite."""
