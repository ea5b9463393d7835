"""Active and passive clauses: forms against a table, sentences that stay, and the way back."""

from __future__ import annotations

import dataclasses
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.errors import ConfigError
from ietest_fast.lexicon import annotator
from ietest_fast.lexicon.annotator import Parser
from ietest_fast.lexicon.verbs import Verbs
from ietest_fast.lexicon.wordnet import WordNet
from ietest_fast.transform import Material, plan
from ietest_fast.transform.syntax.clauses import read_verb_group, write_active, write_passive
from ietest_fast.transform.syntax.trees import Doubt, Sentence
from ietest_fast.transform.syntax.voice import Voice

PAIRS = [
    ("The dog chases a cat.", "A cat is chased by the dog."),
    ("The dog chased a cat.", "A cat was chased by the dog."),
    ("The dog will chase a cat.", "A cat will be chased by the dog."),
    ("The dog has chased a cat.", "A cat has been chased by the dog."),
    ("The dog is chasing a cat.", "A cat is being chased by the dog."),
    ("The dog could have chased a cat.", "A cat could have been chased by the dog."),
    ("The dog does not chase the cat.", "The cat is not chased by the dog."),
    ("The dog didn't chase the cat.", "The cat wasn't chased by the dog."),
    ("The dog cannot chase the cats.", "The cats cannot be chased by the dog."),
    ("The dog hasn't chased the cat.", "The cat hasn't been chased by the dog."),
    ("The dogs aren't chasing the cats.", "The cats aren't being chased by the dogs."),
    ("The dogs won't chase the cats.", "The cats won't be chased by the dogs."),
    ("He saw her.", "She was seen by him."),
    ("She has already seen them.", "They have already been seen by her."),
    ("We were watching him.", "He was being watched by us."),
    ("I ate the apples yesterday.", "The apples were eaten by me yesterday."),
    ("They picked up the ball.", "The ball was picked up by them."),
    ("Yesterday the dog chased a cat.", "Yesterday a cat was chased by the dog."),
    ("In the park, a man fed the birds.", "In the park, the birds were fed by a man."),
    (
        "The man who wears a hat is eating an apple.",
        "An apple is being eaten by the man who wears a hat.",
    ),
    ("John and Mary painted the wall.", "The wall was painted by John and Mary."),
]

STAY = [
    "",
    "Nobody saw him.",
    "Every man loves a woman.",
    "Who chased the cat?",
    "Did the dog chase the cat?",
    "Chase the cat!",
    "The man took a nap.",
    "A man lost his hat.",
    "The man has a dog.",
    "He ran two miles.",
    "The teacher gave the boy a book.",
    "The man wants to buy a car.",
    "JOHN ATE THE APPLE.",
    "He said: the dog chased a cat.",
    "The man is standing by the tree.",
    "The work was done by noon.",
    "The house was built by hand.",
    "He enjoys himself.",
    "A girl kisses a boy in a red dress.",
    "They read the book.",
    "The boy dances.",
    "Wearing a hat, the man eats an apple.",
    "The company has not published a report.",
    "Three boys ate two pizzas.",
]

# What stays, what is like it but is turned, and what that becomes.
ALIKE = [
    (
        "Well dressed mime amazes woman.",
        "A well dressed mime amazes a woman.",
        "A woman is amazed by a well dressed mime.",
    ),
    (
        "News Quiz participants offer two oddly contradictory views of Princeton life",
        "The participants offer two oddly contradictory views of Princeton life",
        "Two oddly contradictory views of Princeton life are offered by the participants",
    ),
    ("I didn't sweat it.", "I carried it.", "It was carried by me."),
    ("I nodded my head.", "I painted your house.", "Your house was painted by me."),
    ("We closed our doors.", "They closed our doors.", "Our doors were closed by them."),
    (
        "The side of the ship held a window.",
        "A woman held a window.",
        "A window was held by a woman.",
    ),
    (
        "A man is giving a woman red meat.",
        "A man is giving a speech.",
        "A speech is being given by a man.",
    ),
    ("Economists call this moral hazard.", "They called a doctor.", "A doctor was called by them."),
    (
        "The child is holding the lady hostage.",
        "The child is holding the lady.",
        "The lady is being held by the child.",
    ),
    (
        "The girl has corrected vision.",
        "The girl has corrected the mistake.",
        "The mistake has been corrected by the girl.",
    ),
    (
        "the child is playing outisde",
        "the child is playing chess",
        "chess is being played by the child",
    ),
    (
        "A man is playing the banjo.",
        "A man is playing the guitar.",
        "The guitar is being played by a man.",
    ),
    (
        "A man and boy are playing table tennis.",
        "A man and boy are playing chess.",
        "Chess is being played by a man and boy.",
    ),
    (
        "The partiers are floating down a river.",
        "The men are burning down a house.",
        "A house is being burned down by the men.",
    ),
    (
        "Drew kicked the horse and spit on its ear.",
        "Germany won Alsace and a portion of Lorraine.",
        "Alsace and a portion of Lorraine were won by Germany.",
    ),
    (
        "The kids eat apples and drink juice.",
        "The kids eat apples and oranges.",
        "Apples and oranges are eaten by the kids.",
    ),
    (
        "A lifeguard is watching the swimmers in the ocean.",
        "A lifeguard is watching the swimmers.",
        "The swimmers are being watched by a lifeguard.",
    ),
    (
        "But Tommy caught the tremor in his voice.",
        "Tommy caught a ball in the park.",
        "A ball was caught in the park by Tommy.",
    ),
    (
        "He wore a tan tunic with sleeves.",
        "He hit a ball with a bat.",
        "A ball was hit with a bat by him.",
    ),
    (
        "They carry it with them.",
        "They carry it with a rope.",
        "It is carried by them with a rope.",
    ),
    ("They do not remember them.", "They do not remember her.", "She is not remembered by them."),
    (
        "A boy's brother and father are following him.",
        "A brother and a father are following him.",
        "He is being followed by a brother and a father.",
    ),
    (
        "Rome would retain the power that it obtained.",
        "Rome would retain the power.",
        "The power would be retained by Rome.",
    ),
    (
        "Chicago should follow suit.",
        "Chicago should follow the rules.",
        "The rules should be followed by Chicago.",
    ),
    ("Natalia raised an eyebrow.", "Natalia raised a flag.", "A flag was raised by Natalia."),
    (
        "Denby kept me late last night.",
        "Denby saw me last night.",
        "I was seen by Denby last night.",
    ),
    (
        "The man boarded the plane to Hawaii.",
        "The man carried the box to Hawaii.",
        "The box was carried to Hawaii by the man.",
    ),
    (
        "The president accused the fashion industry of theft.",
        "The man painted the walls of a house.",
        "The walls of a house were painted by the man.",
    ),
    (
        "The campaign has galvanized the state like no issue ever has.",
        "The campaign has galvanized the state.",
        "The state has been galvanized by the campaign.",
    ),
    (
        "For these reasons, the Commission has applied the U.S.",
        "For these reasons, the Commission has applied the rule.",
        "For these reasons, the rule has been applied by the Commission.",
    ),
    (
        "And, like ammonia, the market is experiencing a crisis.",
        "In time, the market will experience a crisis.",
        "In time, a crisis will be experienced by the market.",
    ),
    (
        "Three cars drag racing in a field.",
        "Three cars drag a wagon.",
        "A wagon is dragged by three cars.",
    ),
    (
        "Boy slam dunks a basketball.",
        "The boy dunks a basketball.",
        "A basketball is dunked by the boy.",
    ),
    (
        "The program helped increase quality of life",
        "The program helped the poet",
        "The poet was helped by the program",
    ),
    (
        "Hillocks provide a great view down onto the river.",
        "Hillocks provide a great view.",
        "A great view is provided by hillocks.",
    ),
    (
        "Legal Aid will close some offices",
        "The boss will close some offices",
        "Some offices will be closed by the boss",
    ),
    (
        "Radio and television have prevented the spread of this",
        "Japan and China outlawed Buddhism",
        "Buddhism was outlawed by Japan and China",
    ),
    (
        "One cyclist takes the lead over the other 3, racing in the velodrome.",
        "One cyclist takes the prize.",
        "The prize is taken by one cyclist.",
    ),
    (
        "But anti-Semitism permeated an ideology, and Finkelstein is deaf to its nuances.",
        "But anti-Semitism permeated an ideology, and Finkelstein is deaf.",
        "But an ideology was permeated by anti-Semitism, and Finkelstein is deaf.",
    ),
    (
        "He encouraged my brother and I to try out in the Olympics.",
        "He encouraged my brother.",
        "My brother was encouraged by him.",
    ),
    ("People are racing ATV's.", "People are riding bikes.", "Bikes are being ridden by people."),
    ("He hit town ridin' light", "He hit a ball", "A ball was hit by him"),
    (
        "She hates the idea of equality for everyone.",
        "She hates the idea of equality.",
        "The idea of equality is hated by her.",
    ),
    (
        "I could have delivered a short lecture on his early years.",
        "I could have delivered a short lecture.",
        "A short lecture could have been delivered by me.",
    ),
    (
        "We could save the country but",
        "We could save the country",
        "The country could be saved by us",
    ),
    ("I label them how I want.", "I label them.", "They are labeled by me."),
    (
        "The Ceteau took a very long time build.",
        "The man took a very long box.",
        "A very long box was taken by the man.",
    ),
    ("Well, he showed them.", "Well, he saw them.", "Well, they were seen by him."),
    (
        "A girl is holding a bottle of wine or champagne and smiling.",
        "A girl is holding a bottle of wine.",
        "A bottle of wine is being held by a girl.",
    ),
    (
        "A woman is reading the USA Today.",
        "A woman is reading the Bible.",
        "The Bible is being read by a woman.",
    ),
]


@pytest.fixture(scope="module")
def voice():
    with Parser.load() as parser:
        yield Voice(parser=parser, verbs=Verbs.packaged(), wordnet=WordNet.packaged())


def _turn(voice, texts):
    made = voice.transform({"text": texts}, ["text"])
    assert made.undo()["text"] == texts
    return made.table["text"]


def test_active_clauses_become_passive(voice):
    assert _turn(voice, [active for active, _ in PAIRS]) == [passive for _, passive in PAIRS]


def test_passive_clauses_become_active(voice):
    # A phrase behind the agent may belong to it.
    chosen = [pair for pair in PAIRS if not pair[1].endswith("yesterday.")]
    assert _turn(voice, [passive for _, passive in chosen]) == [active for active, _ in chosen]


def test_what_is_not_sure_stays(voice):
    assert _turn(voice, STAY) == STAY


@pytest.mark.parametrize(("left", "like", "new"), ALIKE)
def test_what_is_left_beside_what_is_like_it(voice, left, like, new):
    assert _turn(voice, [left, like]) == [left, new]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("He put the dog on a couch.", "The dog was put on a couch by him."),
        ("Children took the barrel away.", "The barrel was taken away by children."),
        ("A man carries a bag up the stairs.", "A bag is carried up the stairs by a man."),
        ("A cowboy rides a horse at a rodeo.", "A horse is ridden at a rodeo by a cowboy."),
        ("I met her in 1946.", "She was met by me in 1946."),
    ],
)
def test_the_agent_stands_where_nothing_can_belong_to_it(voice, old, new):
    assert _turn(voice, [old]) == [new]


def test_one_direction_alone(voice):
    active, passive = PAIRS[1]
    only = dataclasses.replace(voice, direction="passive")
    assert _turn(only, [active, passive]) == [passive, passive]
    only = dataclasses.replace(voice, direction="active")
    assert _turn(only, [active, passive]) == [active, active]
    assert only.fingerprint != voice.fingerprint


def test_each_sentence_of_a_text(voice):
    text = "The dog chased a cat.  Nobody saw him. He saw her!"
    new = "A cat was chased by the dog.  Nobody saw him. She was seen by him!"
    made = voice.transform([text, None, "Über 東京 flog er.", text], ["text"])
    assert list(made.table) == [new, None, "Über 東京 flog er.", new]
    assert made.changed.tolist() == [True, False, False, True]
    edits = made.edits.to_pylist()
    assert [(edit["row"], edit["rule"]) for edit in edits] == [
        (row, "to-passive") for row in (0, 0, 3, 3)
    ]
    assert made.undo() == [text, None, "Über 東京 flog er.", text]


def test_all_but_the_texts_stays(voice):
    table = pa.table(
        {"premise": ["He saw her."], "hypothesis": pa.array([None], pa.string()), "label": [1]}
    )
    made = voice.transform(table, ["premise", "hypothesis"], with_edits=False)
    assert made.table.to_pylist() == [
        {"premise": "She was seen by him.", "hypothesis": None, "label": 1}
    ]
    assert made.edits is None


@pytest.mark.slow
@pytest.mark.parametrize("n_threads", [2, 3, 7])
def test_threads_make_no_difference(voice, n_threads, monkeypatch):
    monkeypatch.setattr(annotator, "_TEXTS_PER_CHUNK", 8)
    texts = [text for pair in PAIRS for text in pair] + STAY
    one = voice.transform({"text": texts}, ["text"], n_threads=1)
    more = voice.transform({"text": texts}, ["text"], n_threads=n_threads)
    assert more.table == one.table
    assert more.edits.equals(one.edits)


def test_it_can_be_pickled(voice):
    again = pickle.loads(pickle.dumps(voice))
    assert again.fingerprint == voice.fingerprint
    assert _turn(again, ["He saw her."]) == ["She was seen by him."]


def test_it_is_registered():
    with plan("voice:direction=passive") as planned:
        assert planned.keeps_labels
        made = planned.build(Material()).transform(["He saw her."], ["text"])
        assert list(made.table) == ["She was seen by him."]
        assert planned.options == {"direction": "passive", "parser": "packaged"}
    with pytest.raises(ConfigError, match="direction"):
        plan("voice:direction=up")


# Auxiliaries and verb in the active voice, its tag, and the passive for "she" and "they".
GROUPS = [
    ("eats", "VBZ", "is eaten", "are eaten"),
    ("eat", "VBP", "is eaten", "are eaten"),
    ("ate", "VBD", "was eaten", "were eaten"),
    ("does not eat", "VB", "is not eaten", "are not eaten"),
    ("don't eat", "VB", "isn't eaten", "aren't eaten"),
    ("did not eat", "VB", "was not eaten", "were not eaten"),
    ("may eat", "VB", "may be eaten", "may be eaten"),
    ("won't eat", "VB", "won't be eaten", "won't be eaten"),
    ("has eaten", "VBN", "has been eaten", "have been eaten"),
    ("hadn't eaten", "VBN", "hadn't been eaten", "hadn't been eaten"),
    ("is eating", "VBG", "is being eaten", "are being eaten"),
    ("were not eating", "VBG", "was not being eaten", "were not being eaten"),
    ("must have eaten", "VBN", "must have been eaten", "must have been eaten"),
    ("has already eaten", "VBN", "has already been eaten", "have already been eaten"),
]


def _group(text: str, tag: str, *, is_passive: bool) -> tuple[Sentence, int]:
    """Make the tree of a verb group, in which all hangs on the verb."""
    words: list[str] = []
    spaces: list[str] = []
    for word in text.split():
        parts = [word[:-3], "n't"] if word.endswith("n't") else [word]
        words += parts
        spaces += [" ", ""][: len(parts)]
    verb = len(words) - 1
    adverbs = {"not", "n't", "already"}
    relations = ["advmod" if word in adverbs else "aux" for word in words]
    if is_passive:
        last = max(i for i in range(verb) if relations[i] == "aux")
        relations[last] = "aux:pass"
    relations[verb] = "root"
    sentence = Sentence(
        start=0,
        end=len(text),
        words=tuple(words),
        spaces=("", *spaces[1:]),
        tags=(*["MD"] * verb, tag),
        heads=(verb,) * len(words),
        relations=tuple(relations),
    )
    return sentence, verb


@pytest.mark.parametrize(("active", "tag", "singular", "plural"), GROUPS)
def test_groups_in_all_tenses(active, tag, singular, plural):
    verbs = Verbs.packaged()
    sentence, verb = _group(active, tag, is_passive=False)
    group = read_verb_group(sentence, verb, is_passive=False)
    assert write_passive(sentence, group, "singular", verbs) == singular
    assert write_passive(sentence, group, "plural", verbs) == plural


@pytest.mark.parametrize(
    ("passive", "person", "active"),
    [
        ("is eaten", "singular", "eats"),
        ("is eaten", "i", "eat"),
        ("was eaten", "plural", "ate"),
        ("isn't eaten", "singular", "doesn't eat"),
        ("are not eaten", "we", "do not eat"),
        ("weren't eaten", "singular", "didn't eat"),
        ("can't be eaten", "you", "can't eat"),
        ("have been eaten", "singular", "has eaten"),
        ("had already been eaten", "i", "had already eaten"),
        ("are being eaten", "i", "am eating"),
        ("was being eaten", "plural", "were eating"),
        ("might have been eaten", "singular", "might have eaten"),
    ],
)
def test_groups_back_into_the_active(passive, person, active):
    sentence, verb = _group(passive, "VBN", is_passive=True)
    group = read_verb_group(sentence, verb, is_passive=True)
    assert write_active(sentence, group, person, Verbs.packaged()) == active


@pytest.mark.parametrize(
    ("text", "tag", "is_passive"),
    [
        ("has been eating", "VBG", False),
        ("will be eating", "VBG", False),
        ("is eaten", "VBN", False),
        ("has not already not eaten", "VBN", False),
        ("gets eaten", "VBN", True),
        ("eaten", "VBN", False),
    ],
)
def test_other_groups_are_doubtful(text, tag, is_passive):
    sentence, verb = _group(text, tag, is_passive=False)
    with pytest.raises(Doubt):
        read_verb_group(sentence, verb, is_passive=is_passive)


def test_am_has_no_short_negation():
    sentence, verb = _group("isn't eating", "VBG", is_passive=False)
    group = read_verb_group(sentence, verb, is_passive=False)
    with pytest.raises(Doubt, match="am has no short negation"):
        write_passive(sentence, group, "i", Verbs.packaged())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["snli/dev.parquet", "ewt"])
def test_what_is_turned_twice_is_what_it_was(voice, shared, monkeypatch, name):
    """At least 90% of what is turned twice has to be what it was."""
    from pathlib import Path

    from ietest_fast.transform.syntax.trees import sentences_of

    if name == "ewt":
        monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "tools"))
        from treebanks import read_conllu

        path = shared / "data/tagging/ud_english_ewt_dev.conllu.gz"
        texts = [
            "".join(w + " " * s for w, s in zip(each.words, each.spaces, strict=True)).strip()
            for each in read_conllu(path)
        ]
    else:
        table = pq.read_table(shared / "data" / name)
        texts = sorted({*table["premise"].to_pylist(), *table["hypothesis"].to_pylist()})[::4]
    once = voice.transform({"text": texts}, ["text"])
    changed = [i for i in range(len(texts)) if once.changed[i]]
    new = [once.table["text"][i] for i in changed]
    twice = voice.transform({"text": new}, ["text"])
    turned = [i for i in range(len(new)) if twice.changed[i]]
    same = sum(twice.table["text"][i] == texts[changed[i]] for i in turned)
    parses = voice.parser.parse(texts)
    n_transitive = 0
    for i, text in enumerate(texts):
        for each in sentences_of(text.encode(), parses, i):
            verbs = [word for word in each.roots if each.tags[word].startswith("VB")]
            n_transitive += any(
                each.children(word, "obj") and each.children(word, "nsubj") for word in verbs
            )
    ways = zip(once.edits["row"].to_pylist(), once.edits["rule"].to_pylist(), strict=True)
    n_passive = len({row for row, rule in ways if rule == "to-passive"})
    print(
        f"{name}: {n_passive} of {n_transitive} main clauses with subject and object made passive, "
        f"{len(changed) - n_passive} texts made active; {len(turned)} turned twice, of which "
        f"{same} are what they were"
    )
    assert n_passive > 0.01 * n_transitive
    assert same >= 0.9 * len(turned)
    assert turned
