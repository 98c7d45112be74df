# Shared by ./whydunit and ./test: finds or installs what the build needs, then builds.
# Sourced, not run; the sourcing script sets `root` (the project's directory) first.
#
# Everything comes from Debian 12 itself. Its `cargo` is too old for this project, but its security archive
# carries a current toolchain, kept fresh for the browsers, as `cargo-web`. A cargo that is already
# there (rustup or otherwise) and new enough is used as it is; nothing is ever removed or replaced.

# Own failures end with 125, as env(1) has it, so that they are never mistaken for the guest's status.
die() {
    printf '%s: %s\n' "${0##*/}" "$1" >&2
    shift
    [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
    exit 125
}

# Is the thing a probe names there? A probe is a command, or a file when it holds a slash (globs allowed).
present() {
    case $1 in
        */*) compgen -G "$1" >/dev/null ;;
        *) command -v "$1" >/dev/null 2>&1 ;;
    esac
}

# install PACKAGE...: by apt-get when root, otherwise says what to type and stops.
install() {
    if ! command -v apt-get >/dev/null 2>&1; then
        die "missing, and there is no apt-get to install it with: $*" "install these with your system's package manager (the names are Debian's)"
    fi
    if [ "$(id -u)" -ne 0 ]; then
        die "missing: $*" "run:  sudo apt-get install --no-install-recommends $*"
    fi
    local log
    log=$(mktemp)
    printf '%s: installing %s\n' "${0##*/}" "$*" >&2
    if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends --no-remove "$@"; } >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        die "apt-get could not install: $*" "see its messages above"
    fi
    rm -f "$log"
}

# need PACKAGE=PROBE...: installs the packages whose probe is not there.
need() {
    local entry missing=()
    for entry; do
        present "${entry#*=}" || missing+=("${entry%%=*}")
    done
    [ ${#missing[@]} -eq 0 ] || install "${missing[@]}"
}

# version_at_least HAVE WANT
version_at_least() {
    [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# Sees to a cargo that is new enough.
need_cargo() {
    local want have candidate
    want=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")
    command -v cargo >/dev/null 2>&1 || PATH=$PATH:$HOME/.cargo/bin
    if have=$(cargo --version 2>/dev/null); then
        have=${have#cargo }
        have=${have%% *}
        version_at_least "$have" "$want" && return
        die "cargo $have is too old, $want or newer is needed" \
            "with rustup:   rustup update stable" \
            "with Debian's: sudo apt-get install cargo-web    (replaces the packages cargo and rustc)"
    fi
    if command -v apt-get >/dev/null 2>&1; then
        [ "$(id -u)" -ne 0 ] || apt-get update >/dev/null 2>&1 || true
        candidate=$(apt-cache policy cargo-web 2>/dev/null | sed -n 's/^ *Candidate: //p')
        if [ -n "$candidate" ] && [ "$candidate" != "(none)" ] && version_at_least "$candidate" "$want"; then
            install cargo-web
            return
        fi
    fi
    die "no cargo found, $want or newer is needed" \
        "install it from https://rustup.rs:  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
}

# quietly COMMAND...: shows its output at a terminal; elsewhere only when it fails.
quietly() {
    if [ -t 2 ]; then
        "$@" >&2 || return
        return
    fi
    local log status=0
    log=$(mktemp)
    "$@" >"$log" 2>&1 || status=$?
    [ $status -eq 0 ] || cat "$log" >&2
    rm -f "$log"
    return $status
}

# Sees to what building takes, and names the release binary in `binary`.
prepare() {
    need gcc=gcc libc6-dev=/usr/include/stdio.h ca-certificates=/etc/ssl/certs
    need_cargo
    # shellcheck disable=SC2034  # used by the sourcing script
    binary=${CARGO_TARGET_DIR:-$root/target}/release/whydunit
}

# The same, and builds it.
build() {
    prepare
    quietly cargo build --release --package cli --manifest-path "$root/Cargo.toml" || die "the build failed, see above"
}
