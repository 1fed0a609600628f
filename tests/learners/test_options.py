"""Options: declared once, checked all at once, refused with the place where they belong."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
from importlib import metadata

import numpy as np
import pytest
from sklearn.base import clone

import f2sl
from f2sl import OptionError, _extensions, option
from f2sl._options import CATALOGUE, whole
from f2sl._reading import READING
from f2sl.api import split_options
from f2sl.cli.app import main
from f2sl.errors import F2SLWarning
from f2sl.learners.base import StructureLearner
from f2sl.learners.local.base import LocalLearner, Neighborhood, Neighborhoods, flatten
from f2sl.learners.registries import LOCAL, MARKOV_BLANKET, STRUCTURE

REGISTRIES = (STRUCTURE, LOCAL, MARKOV_BLANKET)
ALL = [registry.load(entry.name) for registry in REGISTRIES for entry in registry]


@pytest.mark.parametrize("learner", ALL, ids=lambda learner: learner.__name__)
class TestEveryLearner:
    def test_options_are_those_of_the_catalogue_in_its_order(self, learner):
        names = list(learner.option_defaults())
        assert names == [name for name in CATALOGUE if name in names]
        assert not set(names) & {*READING}

    def test_defaults_pass_the_checks(self, learner):
        if learner is not f2sl.DAGGNN:  # which needs PyTorch as well
            learner().check_options()

    def test_the_signature_is_keyword_only(self, learner):
        parameters = inspect.signature(learner).parameters.values()
        assert [p.name for p in parameters] == list(learner.option_defaults())
        assert {p.kind for p in parameters} <= {inspect.Parameter.KEYWORD_ONLY}
        with pytest.raises(TypeError):
            learner(0.05)

    def test_the_docstring_tells_of_each_option(self, learner):
        doc = inspect.getdoc(learner)
        assert doc.count("Parameters\n----------") == 1
        for name, default in learner.option_defaults().items():
            assert f"\n{name} : " in doc
            assert f", default {default!r}\n" in doc
        for section in ("Attributes", "Notes", "Examples"):
            if f"\n{section}\n---" in doc:
                assert doc.index("\nParameters\n") < doc.index(f"\n{section}\n---")

    def test_copies_have_the_options(self, learner):
        name, default = next(iter(learner.option_defaults().items()))
        model = learner(**{name: default}).set_params(**{name: "changed"})
        for other in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert other.get_params() == model.get_params()
            assert repr(other) == repr(model) == f"{learner.__name__}({name}='changed')"

    def test_a_learner_says_what_it_takes(self, learner):
        takes = learner()._takes
        assert takes and set(takes) <= {"discrete", "continuous", "mixed"}


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(OptionError) as caught:
        f2sl.F2SLc(alpha=2, ties="both", n_jobs=0).fit({"a": [0, 1], "b": [0, 1]})
    assert str(caught.value) == (
        "ties must be one of 'drop', 'keep', not 'both'; "
        "alpha must be a number between 0 and 1 (both excluded), not 2; "
        "n_jobs must be a whole number other than 0 (all cores if left out), not 0"
    )


def test_each_is_said_in_terms_of_flags(capsys):
    asia = str(f2sl.example_path("asia"))
    assert main(["learn", asia, "--alpha", "2", "--max-cond-vars", "-1"]) == 2
    told = capsys.readouterr().err
    assert "error: --alpha must be a number" in told
    assert "; --max-cond-vars must be a whole number" in told
    assert main(["learn", asia, "--delimiter", "ab", "--bins", "1"]) == 2
    told = capsys.readouterr().err
    assert "error: --bins takes a whole number" in told and "; --delimiter takes a single character" in told


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda t: f2sl.F2SLc(bins=3), "F2SLc has no option 'bins'; it belongs to open_table"),
        (lambda t: f2sl.F2SLc().set_params(engine="dask"), "F2SLc has no option 'engine'; it belongs to"),
        (
            lambda t: f2sl.F2SLc(alhpa=3),
            "unknown option of F2SLc 'alhpa'; did you mean 'alpha'? Known: delta",
        ),
        (
            lambda t: f2sl.learn(t, "mmhc", delta=0.1),
            "mmhc has no option 'delta'; it belongs to f2sl-c, f2sl-s",
        ),
        (lambda t: f2sl.learn(t, "f2sl-c", hidden=3), "f2sl-c has no option 'hidden'; it belongs to dag-gnn"),
        (lambda t: f2sl.learn(t, "f2sl-c", bin=3), "unknown option of f2sl-c 'bin'; did you mean 'bins'?"),
        (lambda t: f2sl.learn_pc(t, "a", k=3), "fcbf has no option 'k'; it belongs to mrmr"),
        (
            lambda t: f2sl.learn(t, k=3),
            "f2sl-h has no option 'k'; it belongs to local-to-global (pc=\"mrmr\")",
        ),
        (lambda t: f2sl.F2SLc(lambda1=0.1), "F2SLc has no option 'lambda1'; it belongs to notears"),
        (
            lambda t: f2sl.learn_mb(t, delta=0.1),
            "iamb has no option 'delta'; it belongs to f2sl-c, f2sl-s (learn) and fcbf (learn_pc)",
        ),
        (
            lambda t: f2sl.learn_pc(t, tabu_length=3),
            "fcbf has no option 'tabu_length'; it belongs to f2sl-s, f2sl-h, hc, tabu, mmhc, sll+g, local-",
        ),
        (lambda t: f2sl.open_table(t, alpha=0.1), "open_table has no option 'alpha'; it belongs to f2sl-c, "),
        (
            lambda t: f2sl.open_table(t, bin=3),
            "unknown option of open_table 'bin'; did you mean 'bins'? Known: names",
        ),
        (
            lambda t: f2sl.F2SLc().fit(t, bins=3),
            "F2SLc.fit has no option 'bins'; it belongs to open_table: open the table first, or call f2sl.le",
        ),
        (
            lambda t: f2sl.F2SLc().fit(t, alpha=0.1),
            "F2SLc.fit has no option 'alpha'; it belongs to F2SLc",
        ),
        (
            lambda t: f2sl.learn(t, "local-to-global", pc_options=7, nix=3),
            "unknown option of local-to-global 'nix'",
        ),
        (
            lambda t: f2sl.learn(t, "local-to-global", pc_options=7),
            "pc_options must map names of options to values, not 7",
        ),
        (
            lambda t: f2sl.learn(t, "mmhc", delta=0.1, nix=1),
            "mmhc has no option 'delta'; it belongs to f2sl-c, f2sl-s; unknown option of mmhc 'nix'",
        ),
    ],
)
def test_an_option_that_there_is_not(call, told):
    with pytest.raises(OptionError) as caught:
        call({"a": [0, 1], "b": [0, 1]})
    assert str(caught.value).startswith(told)


def test_the_ends_of_a_range_belong_to_it():
    assert [whole("k", value, least=1, most=3) for value in (1, 2, 3)] == [1, 2, 3]
    for value in (0, 4):
        with pytest.raises(OptionError, match=f"k must be a whole number from 1 to 3, not {value}"):
            whole("k", value, least=1, most=3)


def test_the_options_of_reading_are_those_of_open_table():
    assert [*READING, "n_jobs"] == list(f2sl.open_table.__kwdefaults__)


@pytest.mark.parametrize(
    ("learner", "told"),
    [
        (f2sl.F2SLc(skeleton_only=True, alpha=0.1), "alpha has no effect beside skeleton_only=True"),
        (f2sl.F2SLs(skeleton_only=True, max_stall=3), "max_stall has no effect beside skeleton_only=True"),
        (f2sl.MMHC(skeleton_only=True, stability=2), "stability has no effect beside skeleton_only=True"),
        (
            f2sl.F2SLh(skeleton_only=True, tabu_length=3),
            "tabu_length has no effect beside skeleton_only=True",
        ),
        (f2sl.F2SLh(tabu_length=3), 'tabu_length has no effect beside search="orders"'),
        (
            f2sl.F2SLh(search="hill-climbing", effort="fast"),
            'effort has no effect beside search="hill-climbing"',
        ),
        (
            f2sl.BOSS(score="aic", equivalent_sample_size=3.0),
            'equivalent_sample_size has no effect beside score="aic"',
        ),
        (f2sl.NOTEARS(constraint="logdet", h_tol=1e-6), 'h_tol has no effect beside constraint="logdet"'),
        (f2sl.GGSL(start="x", random_state=3), 'random_state has no effect beside start="x"'),
        (f2sl.LocalToGlobal(orient="ci", score="bic"), 'score has no effect beside orient="ci"'),
        (f2sl.LocalToGlobal(orient="score", alpha=0.1), 'alpha has no effect beside orient="score"'),
        (
            f2sl.LocalToGlobal(orient="score", skeleton_only=True),
            "orient has no effect beside skeleton_only=True",
        ),
        (
            f2sl.LocalToGlobal(orient=f2sl.ByTests(), ci_test="x2"),
            "ci_test has no effect: orient has options of its own",
        ),
        (f2sl.LocalToGlobal(local=f2sl.MMPC(), pc="mrmr"), "pc has no effect beside local="),
    ],
)
def test_an_option_that_does_nothing_is_refused(learner, told):
    with pytest.raises(OptionError) as error:
        learner.check_options()
    assert str(error.value) == told


@pytest.mark.parametrize(
    "learner",
    [
        f2sl.F2SLh(search="hill-climbing", tabu_length=3, effort="normal"),
        f2sl.BOSS(score="bds", equivalent_sample_size=3.0),
        f2sl.LocalToGlobal(pc="mmpc", orient="score", alpha=0.1, score="k2", stability=0),
        f2sl.LocalToGlobal(pc="mmpc", skeleton_only=True, alpha=0.1),
        f2sl.LocalToGlobal(local=f2sl.MMPC(), orient="ci", alpha=0.1),
        f2sl.LocalToGlobal(orient=f2sl.ByScore(score="bic"), stability=0),
    ],
    ids=repr,
)
def test_options_that_do_something_are_accepted(learner):
    learner.check_options()


def test_a_name_is_no_learner_and_a_learner_is_no_name():
    with pytest.raises(
        OptionError, match=r"local must be a learner .*, not 'fcbf'; a name is given by pc=\"fcbf\"$"
    ):
        f2sl.LocalToGlobal(local="fcbf").fit(f2sl.load_example("asia"))
    with pytest.raises(OptionError, match=r"; FCBF is a class, FCBF\(\) an object$"):
        f2sl.LocalToGlobal(local=f2sl.FCBF).check_options()
    with pytest.raises(OptionError, match=r"^pc takes a name; a learner is given by local=$"):
        f2sl.LocalToGlobal(pc=f2sl.FCBF()).check_options()


class TestHandingOut:
    def test_to_whom_they_belong(self):
        options = {"pc": "mmpc", "symmetry": "or", "pc_options": {"alpha": 0.1}, "missing": "drop", "k": 1}
        handed = split_options(STRUCTURE, "local-to-global", options)
        own = {"pc": "mmpc", "symmetry": "or", "pc_options": {"alpha": 0.1}}
        assert handed[:3] == (own, {"missing": "drop"}, ["k"])

    def test_an_option_by_its_own_name_goes_before_that_in_a_dictionary(self):
        options = {"pc": "mrmr", "pc_options": {"k": 2, "measure": "su"}, "k": 3}
        handed = split_options(STRUCTURE, "local-to-global", options)
        assert handed.learner == {"pc": "mrmr", "pc_options": {"k": 3, "measure": "su"}}

    def test_the_learner_of_neighbors_gets_its_own(self):
        asia = f2sl.load_example("asia")
        model = f2sl.learn(asia, "local-to-global", pc="mrmr", k=2, measure="su")
        assert model.pc_options == {"k": 2, "measure": "su"}
        assert model.local_learner_.get_params() == {"k": 2, "measure": "su", "knowledge": None}
        assert all(len(near) == 2 for near in model.pc_.values())

    def test_sets_come_in_the_order_of_the_columns(self):
        columns = {"c": [0, 1] * 9, "a": [0, 1] * 9, "b": [0, 0, 1] * 6}
        assert list(f2sl.learn_pc(columns)) == list(f2sl.learn_mb(columns)) == ["c", "a", "b"]

    def test_symmetry_is_for_the_join_alone(self):
        """Sets that were made symmetric before would leave nothing to the OR rule."""
        model = f2sl.LocalToGlobal(pc="mmpc", symmetry="or").fit(f2sl.load_example("asia"))
        assert model.local_learner_.symmetry == "none"

    def test_reading_goes_to_the_table(self):
        numbers = np.random.default_rng(0).normal(size=(200, 3))
        model = f2sl.learn(numbers, bins=2, binning="width", names=["x", "y", "z"], alpha=0.05)
        assert model.alpha == 0.05
        assert model.options_in_use_["ci_test"] == "g2"
        assert list(model.feature_names_in_) == ["x", "y", "z"]
        assert list(f2sl.learn_pc(numbers, "z", names=["x", "y", "z"], bins=2)) == []


class TestFromOutside:
    """Learners of other packages: registered as classes, or by an entry point."""

    @pytest.fixture
    def clean(self, monkeypatch):
        """Forget afterwards what was registered, and whether extensions were loaded."""
        for registry in REGISTRIES:
            monkeypatch.setattr(registry, "_entries", dict(registry._entries))
        _extensions.load_extensions.cache_clear()
        yield
        _extensions.load_extensions.cache_clear()

    def test_a_class_is_used_by_its_name(self, clean):
        LOCAL.add("next-door", NextDoor, "the next columns", "nobody 2000")
        table = {"a": [0, 1], "b": [0, 1], "c": [1, 0], "d": [1, 0]}
        assert list(f2sl.learn_pc(table, "b", algorithm="next-door")) == ["a", "c"]
        model = f2sl.learn(table, "local-to-global", pc="next-door", reach=2, skeleton_only=True)
        assert model.pc_ == {"a": ["b", "c"], "b": ["a", "c", "d"], "c": ["a", "b", "d"], "d": ["b", "c"]}
        with pytest.raises(OptionError, match="reach must be a whole number of at least 1, not 0"):
            f2sl.learn_pc(table, "b", algorithm="next-door", reach=0)
        with pytest.raises(OptionError, match="fcbf has no option 'reach'; it belongs to next-door"):
            f2sl.learn_pc(table, "b", reach=1)

    def test_an_installed_package_adds_one(self, clean, monkeypatch, capsys):
        point = metadata.EntryPoint("mine", f"{__name__}:register", _extensions.EXTENSIONS)
        asked, all_points = [], metadata.entry_points

        def entry_points(**wanted):
            if wanted.get("group") != _extensions.EXTENSIONS:
                return all_points(**wanted)  # other packages have extensions of their own
            asked.append(wanted["group"])
            return [point]

        monkeypatch.setattr(metadata, "entry_points", entry_points)
        monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
        f2sl.learn({"a": [0, 1], "b": [0, 1]}, "f2sl-c")
        assert asked == []  # only where a name is not known
        assert main(["learn", str(f2sl.example_path("asia")), "--algorithm", "nothing", "--json"]) == 0
        assert '"algorithm": "nothing"' in capsys.readouterr().out
        assert main(["algorithms"]) == 0
        assert "links nothing" in capsys.readouterr().out
        assert asked == [_extensions.EXTENSIONS]

    def test_one_that_cannot_be_loaded_is_told_of(self, clean, monkeypatch):
        point = metadata.EntryPoint("broken", "no_such_module", _extensions.EXTENSIONS)
        monkeypatch.setattr(metadata, "entry_points", lambda *, group: [point])
        with (
            pytest.warns(F2SLWarning, match="extension 'broken' .*No module named 'no_such_module'"),
            pytest.raises(OptionError, match="unknown algorithm 'nothing'"),
        ):
            f2sl.learn({"a": [0, 1], "b": [0, 1]}, "nothing")


def at_least_1(name, value):
    if value < 1:
        raise OptionError(f"{name} must be a whole number of at least 1, not {value}")


class NextDoor(LocalLearner):
    """Link the columns that are next to each other by name."""

    reach: int = option("reach", 1, check=at_least_1)

    def learn_one(self, engine, target: int) -> Neighborhood:
        members = [v for v in range(engine.n_variables) if 0 < abs(v - target) <= self.reach]
        return Neighborhood(np.array(members, np.int64), np.ones(len(members)))

    def learn_all(self, engine) -> Neighborhoods:
        return flatten([self.learn_one(engine, v) for v in range(engine.n_variables)])


class Nothing(StructureLearner):
    """Learn a graph without edges."""

    def _learn(self, fit):
        return f2sl.PDAG(fit.names)


def register():
    STRUCTURE.add("nothing", Nothing, "links nothing", "nobody 2000")
