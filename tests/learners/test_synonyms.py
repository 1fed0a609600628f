"""Names from other libraries: understood where they mean the same, otherwise answered with the nearest."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest

import f2sl
from cli_process import learned
from f2sl import _synonyms
from f2sl._options import CATALOGUE
from f2sl._reading import READING
from f2sl._registry import Registry
from f2sl.cli.app import main
from f2sl.cli.options import FLAGS
from f2sl.learners.registries import LOCAL, MARKOV_BLANKET, STRUCTURE
from f2sl.stats.registries import CI_TESTS, MEASURES, SCORES

REGISTRIES = {
    registry.noun: registry for registry in (STRUCTURE, LOCAL, MARKOV_BLANKET, CI_TESTS, SCORES, MEASURES)
}


@pytest.fixture(scope="module")
def asia():
    return f2sl.load_example("asia")


class TestTheTable:
    def test_each_synonym_stands_for_a_registered_name_and_is_none_itself(self):
        for noun, synonyms in _synonyms.SAME.items():
            registered = {entry.name for entry in REGISTRIES[noun]}
            assert set(synonyms.values()) <= registered
            assert not registered & set(synonyms)

    def test_no_name_is_both_understood_and_answered(self):
        for noun, answers in _synonyms.ANSWERS.items():
            assert not set(answers) & set(_synonyms.SAME.get(noun, {}))
            assert not set(answers) & {entry.name for entry in REGISTRIES[noun]}
        assert not set(_synonyms.OPTION_ANSWERS) & {*_synonyms.SAME_OPTIONS, *CATALOGUE, *READING}
        assert set(_synonyms.SAME_OPTIONS.values()) <= set(CATALOGUE)

    def test_keys_are_written_as_names_are_looked_up(self):
        for table in (*_synonyms.SAME.values(), *_synonyms.ANSWERS.values()):
            assert [_synonyms.plain(name) for name in table] == list(table)

    def test_answers_name_what_is_registered(self):
        everything = {entry.name for registry in REGISTRIES.values() for entry in registry}
        everything |= {"logdet"}
        for answers in _synonyms.ANSWERS.values():
            for told in answers.values():
                named = set(re.findall(r"'([^']+)'", told))
                assert named and named <= everything, told

    def test_flags_that_answers_name_exist(self):
        of_knowledge = {"--require", "--forbid", "--tiers"}
        flags = {*FLAGS.values(), *of_knowledge, "--discrete", "--continuous", "--share-continuous"}
        assert set(_synonyms.SAME_FLAGS.values()) <= flags
        spelled = [part.shell for parts in _synonyms.OPTION_ANSWERS.values() for part in parts[1::2]]
        assert {text.split()[0] for text in spelled} <= flags

    def test_no_registered_name_differs_from_another_only_in_spelling(self):
        for registry in REGISTRIES.values():
            names = [_synonyms.plain(entry.name) for entry in registry]
            assert names == [entry.name for entry in registry]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("pc", "pc-stable"),
        ("PC_Stable", "pc-stable"),
        ("hill-climbing", "hc"),
        ("hill_climb", "hc"),
        ("HillClimb", "hc"),
        ("tabu_search", "tabu"),
        ("F2SL-C", "f2sl-c"),
    ],
)
def test_an_algorithm_by_another_name(typed, meant, asia):
    assert type(f2sl.learn(asia, typed)) is STRUCTURE.load(meant)
    assert f2sl.learn(asia, typed).graph_ == f2sl.learn(asia, meant).graph_


@pytest.mark.parametrize(
    ("option", "typed", "meant"),
    [
        *(("ci_test", name, "x2") for name in ("chi_square", "chisq", "chi-squared", "Chi2")),
        *(("ci_test", name, "g2") for name in ("g_sq", "gsq", "G2")),
        *(("score", name, "bic") for name in ("bic-d", "BIC")),
        *(("score", name, name.lower()) for name in ("BDeu", "K2", "AIC")),
    ],
)
def test_a_test_or_score_by_another_name(option, typed, meant, asia):
    learner = f2sl.PCStable if option == "ci_test" else f2sl.F2SLs
    model = learner(**{option: typed}).fit(asia)
    assert model.get_params()[option] == typed
    assert model.options_in_use_[option] == meant
    assert model.graph_ == learner(**{option: meant}).fit(asia).graph_


def test_fishers_z_by_another_name():
    frame = f2sl.random_network(5, 6, kind="continuous", random_state=1).sample(300, random_state=1)
    assert f2sl.learn(frame, "pc", ci_test="fisherz").options_in_use_["ci_test"] == "fisher-z"


def test_an_exact_search_takes_the_score_by_another_name(asia):
    assert f2sl.learn(asia, "exact", score="bic-d").score_ == f2sl.learn(asia, "exact", score="bic").score_


def test_an_option_by_another_name(asia):
    model = f2sl.learn(asia, "pc", significance_level=0.2, indep_test="chisq")
    assert (model.alpha, model.ci_test) == (0.2, "chisq")
    assert f2sl.learn(asia, "boss", seed=3).random_state == 3
    assert f2sl.learn(asia, "hc", scoring_method="bic-d", max_indegree=2).max_parents == 2
    assert list(f2sl.learn_mb(asia, "smoke", significance_level=1e-9)) == list(
        f2sl.learn_mb(asia, "smoke", alpha=1e-9)
    )


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda t: f2sl.learn(t, "ges"),
            "unknown algorithm 'ges'; greedy equivalence search is not here; near",
        ),
        (
            lambda t: f2sl.learn(t, "iamb"),
            "unknown algorithm 'iamb'; it finds Markov blankets (learn_mb); 'gsbn'",
        ),
        (
            lambda t: f2sl.learn(t, "mmpc"),
            "unknown algorithm 'mmpc'; it finds the neighbors of variables (le",
        ),
        (
            lambda t: f2sl.learn_pc(t, "a", "pc-stable"),
            "unknown PC algorithm 'pc-stable'; it learns whole gra",
        ),
        (
            lambda t: f2sl.learn(t, "f2sl-c", whitelist=[]),
            "unknown option of f2sl-c 'whitelist'; required edges are given by knowledge=",
        ),
        (
            lambda t: f2sl.F2SLh(forbidden_edges=[]),
            "unknown option of F2SLh 'forbidden_edges'; forbidden edges are given by knowledge=",
        ),
        (
            lambda t: f2sl.open_table(t, categorical=["a"]),
            "unknown option of open_table 'categorical'; columns are read as discrete by kinds=",
        ),
        (
            lambda t: f2sl.BOSS(seed=1),
            "unknown option of BOSS 'seed'; it is called 'random_state' here",
        ),
        (
            lambda t: f2sl.learn(t, "f2sl-c", seed=1),
            "f2sl-c has no option 'seed'; nothing in it is random; 'random_state' belongs to boss",
        ),
        (
            lambda t: f2sl.learn(t, "boss", seed=1, random_state=1),
            "random_state is given twice: 'seed' means",
        ),
        (
            lambda t: f2sl.learn(t, "boss", random_state=1, seed=1),
            "random_state is given twice: 'seed' means",
        ),
        (
            lambda t: f2sl.Knowledge(blacklist=[]),
            "knowledge: unknown option 'blacklist'; forbidden edges are g",
        ),
        (lambda t: f2sl.learn(t, "f2sl-s", score="bde"), "score must be one of 'auto', "),
    ],
)
def test_what_is_not_understood_is_answered(call, told):
    with pytest.raises(f2sl.OptionError) as caught:
        call({"a": [0, 1] * 9, "b": [0, 1, 1] * 6})
    assert str(caught.value).startswith(told)


def test_a_name_of_an_own_entry_goes_before_a_synonym():
    registry = Registry("algorithm")
    registry.add("hc", "collections:Counter", "counts")
    assert registry.resolve("hill-climbing") == "hc"
    registry.add("hill-climbing", "collections:OrderedDict", "orders")
    assert registry.load("hill-climbing").__name__ == "OrderedDict"
    assert registry.load("hc").__name__ == "Counter"


def test_a_synonym_of_nothing_registered_is_unknown():
    registry = Registry("algorithm")
    assert "pc" not in registry
    with pytest.raises(f2sl.OptionError, match="unknown algorithm 'pc'"):
        registry.load("pc")


def test_an_option_of_a_learner_of_ones_own_is_its_own(asia):
    """A learner that has an option `seed` itself receives it."""

    class Own(f2sl.F2SLc):
        seed: int = f2sl.option("seed", 0)

    STRUCTURE.add("own-f2sl", Own, "F2SL-c", "this test")
    try:
        assert f2sl.learn(asia, "own-f2sl", seed=4).seed == 4
    finally:
        STRUCTURE._entries.pop("own-f2sl")
    assert "seed" in {field.name for field in dataclasses.fields(Own)}


class TestTheCommandLine:
    @pytest.fixture
    def csv(self, tmp_path, asia):
        path = tmp_path / "asia.csv"
        asia.head(400).to_csv(path, index=False)
        return str(path)

    def test_names_and_flags_are_understood(self, csv):
        typed = ("--algorithm", "pc", "--indep-test=chisq", "--significance-level", "0.05")
        told = json.loads(learned("learn", csv, *typed, "--categorical", "asia", "--json"))
        meant = ("--algorithm", "pc-stable", "--ci-test", "x2", "--alpha", "0.05", "--discrete", "asia")
        expected = json.loads(learned("learn", csv, *meant, "--json"))
        assert told["algorithm"] == expected["algorithm"] == "pc-stable"
        assert told["graph"] == expected["graph"]

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (
                ["--blacklist", "x"],
                'no such option: --blacklist; forbidden edges are given by --forbid "A -> B"',
            ),
            (
                ["--required-edges", "x"],
                "no such option: --required-edges; required edges are given by --requ",
            ),
            (
                ["--algorithm", "iamb"],
                "unknown algorithm 'iamb'; it finds Markov blankets (mb); 'gsbn' learns",
            ),
            (
                ["--seed", "1", "-a", "f2sl-c"],
                "f2sl-c has no option --seed; nothing in it is random; --random-state belongs to boss",
            ),
            (
                ["--random-state", "1"],
                "f2sl-h has no option --random-state; nothing in it is random; it belongs to boss",
            ),
            (["--seed=x", "-a", "boss"], "--random-state must be a whole number"),
            (
                ["--iss", "1", "-a", "f2sl-c"],
                "f2sl-c has no option --iss; --equivalent-sample-size belongs to",
            ),
            (["--ci-test", "pearsonr"], "--ci-test must be one of 'auto', "),
        ],
    )
    def test_others_are_answered_with_its_own_words(self, csv, arguments, told, capsys):
        assert main(["learn", csv, *arguments]) == 2
        assert f"f2sl: error: {told}" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("arguments", "kind", "values"),
        [
            (["learn", "--seed", "1"], "unknown-option", {"name": "seed", "nearest": ["random_state"]}),
            (["learn", "-a", "mmcp"], "unknown-name", {"name": "mmcp", "nearest": ["mmhc"]}),
            (["learn", "-a", "ges"], "unknown-name", {"name": "ges", "nearest": ["boss", "f2sl-h", "hc"]}),
            (["pc", "-a", "gs"], "unknown-name", {"name": "gs", "nearest": ["mmpc", "hiton-pc"]}),
            (["mb", "-a", "gs"], "unknown-name", {"name": "gs", "nearest": ["gsmb"]}),
            (["learn", "--truth", "gone.json"], "file", {"path": "gone.json"}),
            (["learn", "--plot", "p.jpeg"], "file", {"path": "p.jpeg"}),
        ],
    )
    def test_records_of_unknown_names_and_files_have_them(self, csv, arguments, kind, values, capsys):
        assert main([arguments[0], csv, *arguments[1:], "--json"]) == 2
        [problem] = json.loads(capsys.readouterr().out)["problems"]
        assert (problem["kind"], problem["values"]) == (kind, values)

    def test_a_flag_that_a_command_does_not_have_under_either_name(self, capsys):
        assert main(["algorithms", "--seed", "1"]) == 2
        assert "no such option: --seed" in capsys.readouterr().err

    def test_no_answer_names_a_flag_that_the_command_does_not_have(self, capsys):
        for command, flag in (("fit", "--tiers"), ("compare", "--blacklist"), ("show", "--depth")):
            assert main([command, "x.json", flag, "1"]) == 2
            told = capsys.readouterr().err
            assert f"no such option: {flag}" in told and f"see f2sl {command} --help" in told

    def test_the_list_of_algorithms_explains_them(self, capsys):
        assert main(["algorithms", "hill-climbing"]) == 0
        assert "f2sl learn DATA --algorithm hc\n" in capsys.readouterr().out
        assert main(["algorithms", "pc", "--json"]) == 0
        assert [one["name"] for one in json.loads(capsys.readouterr().out)["structure"]] == ["pc-stable"]


# Public names


@pytest.mark.parametrize("noun", list(REGISTRIES))
def test_every_registered_class_can_be_imported_from_f2sl(noun):
    for entry in REGISTRIES[noun].registered():
        if str(entry.location).startswith("f2sl."):
            found = entry.load()
            assert getattr(f2sl, found.__name__) is found


def test_objects_of_public_classes_are_the_tests_and_scores_of_their_names(asia):
    by_name, by_object = f2sl.PCStable(ci_test="x2").fit(asia), f2sl.PCStable(ci_test=f2sl.X2()).fit(asia)
    assert by_name.graph_ == by_object.graph_
    score = f2sl.BDeu(equivalent_sample_size=1.0)
    assert f2sl.Tabu(score=score).fit(asia).score_ == f2sl.Tabu(equivalent_sample_size=1.0).fit(asia).score_
