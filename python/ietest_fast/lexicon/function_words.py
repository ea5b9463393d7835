"""English function words: the closed classes, written down by the authors of this package."""

from __future__ import annotations

_DETERMINERS = """
    a an the this that these those each every either neither some any no all both half such what
    whatever which whichever another other others enough much many more most few fewer fewest little
    less least several
"""
_PRONOUNS = """
    i you he she it we they me him her us them my your his its our their mine yours hers ours theirs
    myself yourself himself herself itself ourselves yourselves themselves one oneself who whom
    whose whoever someone somebody something anyone anybody anything everyone everybody everything
    nobody nothing none
"""
_PREPOSITIONS = """
    about above across after against along alongside amid among amongst around as at before behind
    below beneath beside besides between beyond by despite down during except for from in inside
    into like near of off on onto opposite out outside over past per regarding since than through
    throughout till to toward towards under underneath unlike until up upon versus via with within
    without
"""
_CONJUNCTIONS = """
    and or but nor so yet if because although though while whilst whereas unless whether once lest
    provided when whenever where wherever why how
"""
_AUXILIARIES = """
    am is are was were be been being have has had having do does did doing done can could may might
    must shall should will would ought need dare used
    ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't
    needn't shan't shouldn't wasn't weren't won't wouldn't cannot
    i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd
    they'd i'll you'll he'll she'll it'll we'll they'll that's there's here's what's who's let's
"""
_PARTICLES = """
    not too very just only also even still then there here quite rather almost ever never always
"""

_ALL = (_DETERMINERS, _PRONOUNS, _PREPOSITIONS, _CONJUNCTIONS, _AUXILIARIES, _PARTICLES)

FUNCTION_WORDS = frozenset(word for words in _ALL for word in words.split())
"""In lower case, with the straight apostrophe: determiners, pronouns, prepositions, conjunctions,
auxiliaries and particles; all other words are content words."""
