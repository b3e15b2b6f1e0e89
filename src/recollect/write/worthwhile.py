"""What is worth keeping and what is idle talk, to an embedder: sentences of both kinds, embedded once."""

from typing import Any
from weakref import WeakKeyDictionary

from recollect.ports import Embedder
from recollect.write.prototypes import matrix

KEEP = (
    "Nora lives in Ghent and works as a nurse.",
    "Pavel grew up in Brno and speaks Czech.",
    "Amara is allergic to shellfish.",
    "Kenji has a grey cat called Mochi.",
    "Ruth has two daughters and a stepson.",
    "Nora's brother Lukas is a carpenter in Oslo.",
    "Pavel's boss is called Irene.",
    "Amara's husband teaches maths at a secondary school.",
    "Kenji is a vegetarian.",
    "Ruth cannot drink milk.",
    "Nora takes tablets for high blood pressure.",
    "Pavel broke an ankle while skiing.",
    "Amara prefers tea to coffee.",
    "Kenji's favourite author is Ursula Le Guin.",
    "Ruth does not like early meetings.",
    "Nora always takes the window seat.",
    "Pavel plays the cello in an amateur orchestra.",
    "Amara goes swimming twice a week.",
    "Kenji collects old postcards.",
    "Ruth paints watercolours of the harbour.",
    "Nora started taking pottery lessons.",
    "Pavel joined a running club.",
    "Amara volunteers at an animal shelter.",
    "Kenji wants to open a small bakery.",
    "Ruth hopes to become a midwife.",
    "Nora hopes to be elected to the town council.",
    "Pavel is passionate about restoring old clocks.",
    "Amara's main hobbies are chess and photography.",
    "Kenji loves crime novels and old westerns.",
    "Ruth has been doing karate since childhood.",
    "Nora is starting a small flower shop.",
    "Baking is Pavel's way to relax after work.",
    "Nora plans to move to Lisbon.",
    "Pavel is training for a marathon.",
    "Amara is learning Portuguese.",
    "Kenji is saving up for a camper van.",
    "Ruth is writing a novel about her grandmother's village.",
    "Nora lost the job at the bank.",
    "Pavel quit the agency and works for himself.",
    "Amara was promoted to head of sales.",
    "Kenji opened an online shop for ceramics.",
    "Ruth graduated in biology.",
    "Nora adopted a puppy from the shelter.",
    "Pavel and Amara got engaged.",
    "Kenji's parents are divorced.",
    "Ruth moved in with a flatmate.",
    "Nora bought a second-hand piano.",
    "Pavel went to a concert of the Berlin Philharmonic.",
    "Amara visited Rome with the family.",
    "Kenji took the children camping in the mountains.",
    "Ruth won the regional chess tournament.",
    "Nora finished the first draft of a screenplay.",
    "Pavel gave a talk at a school about his work.",
    "Amara signed a sponsorship deal with a shoe company.",
    "Kenji is looking for a studio to rent near the station.",
    "Ruth applied to two adoption agencies.",
    "Nora has been with the same company for ten years.",
    "Pavel has never been to Japan.",
    "Amara used to dance in competitions as a child.",
    "Kenji is afraid of flying.",
    "Ruth came out to her parents.",
    "Nora drives an old Volvo.",
    "Pavel keeps the spare key with the neighbour.",
    "Amara wants answers without bullet points.",
    "Kenji asked for distances in kilometres.",
    "Ruth has to renew the passport.",
    "Nora still has to send the invoice to the landlord.",
    "Pavel wants a reminder to call the plumber.",
    "The team uses Go for the gateway.",
    "Amara owns the billing service.",
    "The database listens on port 6432.",
    "The API returns 429 when the quota is used up.",
    "The project uses Django 4.2 with PostgreSQL.",
    "The staging server is hosted in Frankfurt.",
    "Support for the old API is dropped in release 5.",
    "The build fails on Windows because of long paths.",
    "Migrations must be reviewed by two people.",
    "The first sprint covers login and registration.",
    "The customer wants the report in Swiss francs.",
    "The user is a developer who builds a weather app.",
    "The user set a goal of ten interviews by summer.",
    "The user stores passwords as hashes in the users table.",
    "The release manager is Irene.",
    "The shop is closed on Mondays.",
    "The wedding takes place in Lyon.",
    "The lease of the flat ends in spring.",
    "The grandmother's necklace was a gift for the eighteenth birthday.",
)
"""Statements that somebody may ask for next year."""

IDLE = (
    "Nora is excited about everything that is coming.",
    "Pavel is so happy and thankful for all the support.",
    "Amara feels hopeful and optimistic.",
    "Kenji is proud of the progress.",
    "Ruth is determined to make it work.",
    "Nora is stressed out and a bit overwhelmed.",
    "Pavel keeps going back and forth between worry and relief.",
    "Amara is staying positive and pushing forward.",
    "Kenji will get through this.",
    "Ruth will keep working hard and reaching for new goals.",
    "Nora is always here to help.",
    "Pavel believes that everything will turn out well.",
    "Amara agrees completely.",
    "Kenji knows the feeling.",
    "Ruth is glad to hear the news.",
    "Nora appreciates the kind words.",
    "Pavel had a great time.",
    "Amara enjoyed every minute of it.",
    "Kenji loves the atmosphere and the energy.",
    "Ruth loves the feeling of being close to nature.",
    "Nora loves how it looks.",
    "Pavel likes the idea.",
    "Amara thinks the colours are beautiful.",
    "Kenji finds the story inspiring.",
    "Ruth wants to make a difference in the world.",
    "Nora wants to help others and give something back.",
    "Pavel wants to be brave for the family.",
    "Amara wants to use the experience to inspire others.",
    "Kenji wants to keep growing and learning.",
    "Ruth's family gives Ruth strength.",
    "Nora's friends motivate Nora to keep going.",
    "Pavel's journey has not been easy.",
    "Amara's hard work is paying off.",
    "Kenji's own experience made a huge difference.",
    "Ruth can build a strong and supportive community.",
    "Nora has to take a break now and then.",
    "Pavel has been busy with work and family.",
    "Amara had a long day.",
    "Kenji is swamped with work.",
    "Ruth has a funny story to tell.",
    "Nora has been looking at different options.",
    "Pavel took some notes.",
    "Amara put a lot of work into it.",
    "Kenji is thinking about what comes next.",
    "Ruth did some research and found a few ideas.",
    "Family is the most important thing.",
    "Dancing makes people happy.",
    "Art is a way to express feelings.",
    "Nature has a calming effect.",
    "Success takes time and patience.",
    "Everybody has a different path.",
    "Working together brings positive changes.",
    "Good equipment helps to avoid injuries.",
    "Life is full of surprises.",
    "The weather was lovely.",
    "The view was breathtaking.",
    "The event was a great success.",
    "The movie was really good.",
    "The place had a nice atmosphere.",
    "The process may be tough, but it is worth it.",
    "The day has come at last.",
    "Friday works.",
    "Now the hard work starts.",
    "A lot has happened lately.",
    "The user is trying to fix a bug in the code.",
    "The user is having trouble with the layout.",
    "The user wants to understand how the function works.",
    "The user has checked the documentation and still gets errors.",
    "The user has tried a few things without success.",
    "The user wants to make sure that the code is correct.",
    "The user would like to add more features later.",
    "The user will go with that.",
    "The user will look into it.",
    "The user needs some help with the next step.",
    "The user needs to plan the tasks carefully.",
    "The user can inspect the element in the browser.",
    "The user is confused about how to apply this.",
    "The probability of rolling a six is one sixth.",
    "The formula gives the area of a triangle.",
    "As the user continues to learn, the user will see how the concepts apply.",
)
"""Talk that is true for the moment, for everybody, or only for the mood of the speaker."""

MARGIN = 0.07
"""How much nearer to idle talk a statement must be to be left out."""
MARGIN_AT_WORK = 0.14
"""The same of work on a system, whose sentences are all less like these."""
_NEAREST = 3


def prepared(embedder: Embedder) -> Any:
    """The sentences of both kinds as vectors, what is kept first. Made once for each embedder, when first needed."""
    known = _MADE.get(embedder)
    if known is None:
        known = _MADE[embedder] = matrix(embedder.embed([*KEEP, *IDLE]))
    return known


def leanings(embedder: Embedder, vectors: Any) -> list[float]:
    """How much nearer each vector is to idle talk than to what is kept: by the mean of the nearest of both."""
    import numpy

    cosines = vectors @ prepared(embedder).T
    keep = numpy.sort(cosines[:, : len(KEEP)], axis=1)[:, -_NEAREST:].mean(axis=1)
    talk = numpy.sort(cosines[:, len(KEEP) :], axis=1)[:, -_NEAREST:].mean(axis=1)
    return (talk - keep).tolist()


_MADE: "WeakKeyDictionary[Embedder, Any]" = WeakKeyDictionary()
