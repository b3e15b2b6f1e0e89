"""A memory through its five lengths: raw, clean, summarised, a packet of anchors, one word. Pure and deterministic."""

from recollect.policy.distil.cleaning import clean as clean
from recollect.policy.distil.cleaning import clean_turns as clean_turns
from recollect.policy.distil.form import WrittenBullet as WrittenBullet
from recollect.policy.distil.form import WrittenSummary as WrittenSummary
from recollect.policy.distil.material import Draft as Draft
from recollect.policy.distil.material import Material as Material
from recollect.policy.distil.material import cited as cited
from recollect.policy.distil.material import raw as raw
from recollect.policy.distil.material import resolves as resolves
from recollect.policy.distil.notation import parse as parse
from recollect.policy.distil.notation import served as served
from recollect.policy.distil.notation import write as write
from recollect.policy.distil.packets import packet as packet
from recollect.policy.distil.packets import trace as trace
from recollect.policy.distil.summary import summarise as summarise
from recollect.policy.distil.support import supported as supported
from recollect.policy.distil.written import accepted as accepted
