# What scripts/run and scripts/test share: installing what is missing, configuring, building. To be sourced.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Debian 12's names.
packages=(
    g++ cmake ninja-build
    qt6-base-dev qt6-base-dev-tools qt6-svg-dev qt6-tools-dev qt6-tools-dev-tools qt6-l10n-tools libgl-dev
    libqcustomplot-dev
    libdnnl-dev libsqlite3-dev libsqlitecpp-dev zlib1g-dev libcsv-dev
    nlohmann-json3-dev libcli11-dev libfmt-dev libspdlog-dev libbenchmark-dev
    libopenmpi-dev openmpi-bin
)

say() {
    printf '==> %s\n' "$*" >&2
}

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Sets `missing` to the packages that are not installed.
find_missing_packages() {
    local -A installed=()
    local name status
    while read -r name status; do
        [[ $status != installed ]] || installed[$name]=yes
    done < <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)
    missing=()
    for name in "${packages[@]}"; do
        [[ -n ${installed[$name]:-} ]] || missing+=("$name")
    done
}

install_packages() {
    local as_root=()
    local by_hand="apt-get update && apt-get install ${missing[*]}"
    if ((EUID != 0)); then
        command -v sudo >/dev/null || fail "these packages are missing: ${missing[*]}
Installing them needs root, and there is no sudo here. As root:  $by_hand"
        as_root=(sudo)
        by_hand=${by_hand//apt-get/sudo apt-get}
    fi
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get)
    local install=(install --yes --no-install-recommends "${missing[@]}")

    say "Installing what is missing from Debian's packages: ${missing[*]}"
    # Package lists that are absent or out of date show only now: fetch them and try once more.
    if ! apt-get --simulate "${install[@]}" >/dev/null 2>&1 || ! "${apt[@]}" "${install[@]}" >&2; then
        say "Fetching the package lists"
        "${apt[@]}" update >&2 || say "The package lists could not be fetched"
        "${apt[@]}" "${install[@]}" >&2 || true
    fi
    find_missing_packages
    ((${#missing[@]} == 0)) || fail "these packages could not be installed: ${missing[*]}
Is there a network? Then install them yourself:  $by_hand"
}

ensure_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "This is no Debian: going on with what is installed. Needed, by Debian's names: ${packages[*]}"
        return
    fi
    find_missing_packages
    ((${#missing[@]} == 0)) || install_packages
}

# configure_and_build <preset> [<target>...]: everything where no target is named.
configure_and_build() {
    local preset=$1
    local ninja=$root/build/$preset/build.ninja
    shift
    cd "$root"
    # Ninja itself configures again when a CMakeLists.txt has changed, but it does not know of the presets.
    if [[ ! -e $ninja || CMakePresets.json -nt $ninja ]]; then
        say "Configuring build/$preset"
        cmake --preset "$preset" >&2 || fail "CMake could not configure build/$preset; what it lacks stands above.
If it speaks of another source folder, remove build/$preset and try again"
        touch "$ninja"
    fi
    say "Building build/$preset (the first time takes minutes)"
    local targets=()
    (($# == 0)) || targets=(--target "$@")
    cmake --build --preset "$preset" "${targets[@]}" >&2 || fail "the build failed; the reason stands above"
    cd "$OLDPWD"
}
