"""``twigcast schema`` works on mapping files: how the documents of each publisher fit the global schema."""

import typer

from twigcast.cli.options import examples
from twigcast.cli.schema import check, compare, coverage, grow, infer, match, show, try_out

app = typer.Typer(
    no_args_is_help=True,
    help="Propose, check, show, try and extend the mappings from publishers' schemas to the global schema.",
    epilog=examples(
        "twigcast schema match cmu.xsd catalogue.dtd -o mappings/cmu.toml",
        "twigcast schema check mappings/",
        "twigcast schema show mappings/cmu.toml",
        'twigcast schema try mappings/cmu.toml cmu.xml -x "//course[place/room]"',
        "twigcast schema coverage mappings/ --subscriptions s.txt",
    ),
)
app.command("match", epilog=match.EXAMPLES)(match.command)
app.command("check", epilog=check.EXAMPLES)(check.command)
app.command("show", epilog=show.EXAMPLES)(show.command)
app.command("try", epilog=try_out.EXAMPLES)(try_out.command)
app.command("compare", epilog=compare.EXAMPLES)(compare.command)
app.command("coverage", epilog=coverage.EXAMPLES)(coverage.command)
app.command("grow", epilog=grow.EXAMPLES)(grow.command)
app.command("infer", epilog=infer.EXAMPLES)(infer.command)
