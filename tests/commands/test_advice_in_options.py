"""What a terminal advises is options of commands, which the commands take."""

import shlex

import pytest

from measurement_layouts.command import main, parser
from measurement_layouts.commands.saying import in_options, say
from measurement_layouts.inference.fit import load
from measurement_layouts.inference.sampling.convergence import Convergence, faults

SHORT = ["--draws", "20", "--tune", "20", "--chains", "2", "--jobs", "1"]


def test_a_fit_that_did_not_converge_names_options(data, tables, tmp_path, capsys):
    out = tmp_path / "fit"
    command = ["fit", f"{data / 'layout.py'}:plain", *tables, *SHORT, "--target-accept", "0.6"]
    assert main([*command, "--out", str(out)]) == 1
    told = capsys.readouterr().out
    attributes = load(out / "fit.nc").data.attrs
    assert (attributes["target_accept"], attributes["tune"]) == (0.6, 20)
    assert "--draws " in told
    assert "fit(" not in told
    assert "draws=" not in told


@pytest.mark.parametrize(
    "found",
    [
        Convergence(divergences=0, rhat=1.004, ess=150, draws=300),
        Convergence(divergences=0, rhat=1.7, ess=20, draws=300, tune=300),
        Convergence(divergences=1, rhat=1.0, ess=900),
        Convergence(divergences=300, rhat=1.0, ess=900),
    ],
)
@pytest.mark.parametrize("command", ["fit layout.py --outcomes a.csv --out b", "run adele"])
def test_commands_take_what_is_advised(found, command):
    """Nothing of the advice is Python, and the parser reads each option with its number."""
    advised = " ".join(in_options(fault) for fault in faults(found, chains=2))
    assert "=" not in advised
    words = advised.replace(",", "").split()
    given = [
        word
        for at, word in enumerate(words)
        if word.startswith("--") and words[at + 1][0].isdigit()
        for word in words[at : at + 2]
    ]
    assert given
    parser().parse_args([*shlex.split(command), *given])


def test_other_words_stay(capsys):
    plain = "ask for 3 draws, tune it, chains=many; draws of names such as my_draws=3 stay"
    say(plain)
    assert capsys.readouterr().out == f"{plain}\n"


@pytest.mark.parametrize("share", ["0", "1", "nan", "much"])
def test_a_target_is_between_0_and_1(share, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["run", "adele", "--target-accept", share])
    assert ended.value.code == 2
    assert "give a number between 0 and 1" in capsys.readouterr().err
