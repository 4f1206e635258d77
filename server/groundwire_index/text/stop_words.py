"""English words that are too frequent to distinguish texts; the BM25 tokeniser drops them.

The list is small on purpose: articles, pronouns, prepositions, auxiliaries and the openings of questions. Negations
(`not`, `no`) stay, since "not found" and "found" differ. `s`, `t`, `d`, `ll`, `m`, `re` and `ve` are what an
apostrophe leaves behind (`user's`, `don't`, `we'll`).
"""

_WORDS = """
a about after all also am an and any are as at be because been before being between both but by can could d did
do does doing don for from had has have having he her here him his how i if in into is it its ll m may me might
more most must my of on once only or other our out over own re s same shall she should so some such t than that
the their them then there these they this those through to too under until up ve very was we were what when
where which while who whom why will with would you your
"""

STOP_WORDS = frozenset(_WORDS.split())
