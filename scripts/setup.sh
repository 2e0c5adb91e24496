# Sourced by the other scripts: a virtual environment in .venv with this project and the packages that
# constraints.txt pins, and `dot`. constraints=/dev/null takes the newest packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset PYTHONDONTWRITEBYTECODE # every process would compile all modules again, which takes seconds

find_python() {
    local name
    for name in python3 python3.13 python3.12 python3.14 python; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    echo "Python 3.12 or newer is needed, and none was found; install it, then run this again." >&2
    return 1
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo -n "$@"; else return 1; fi
}

install_package() { # of Debian and its kin
    command -v apt-get >/dev/null && as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1"
} >&2

if ! command -v dot >/dev/null; then
    echo "Installing Graphviz for the diagrams ..." >&2
    install_package graphviz ||
        echo "Graphviz could not be installed; diagrams are drawn more plainly without it." >&2
fi

python=$(find_python)
extras=${extras:-test,notebooks}
stamp=.venv/installed-$(echo "$extras" | tr , -)
constraints=${constraints:-constraints.txt}
if [ ! -e "$stamp" ] || [ pyproject.toml -nt "$stamp" ] || [ "$constraints" -nt "$stamp" ]; then
    echo "Installing into .venv ..." >&2
    [ -x .venv/bin/python ] || "$python" -m venv .venv
    # pip compiles modules on one processor, which is a third of its time; compileall does on all of them.
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
        --constraint "$constraints" --editable ".[$extras]" >&2
    .venv/bin/python -m compileall -qq -j 0 .venv/lib || true # some packages have files of Python 2
    touch "$stamp"
fi
