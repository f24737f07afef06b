#!/usr/bin/env bash
# Julia for the tests of bindings/julia, for versions of Debian without a package of it: Julia of Debian 11, unpacked with its
# libraries into a separate folder. apt fetches it from the archive in this machine's sources and checks it against Debian's
# keys; the system is not changed.
#   src/cmake/unpack-julia.sh <folder>       afterwards <folder>/bin/julia
#   src/cmake/unpack-julia.sh --check        tells whether it is possible on this machine
set -euo pipefail
package=julia=1.5.3+dfsg-3
keys=/usr/share/keyrings/debian-archive-keyring.gpg
# Libraries that every system has; the library would load older versions in the folder, too.
of_the_system='libc6|libc-bin|libcrypt1|libgcc-s1|gcc-[0-9]+-base|libstdc[+][+]6|libgomp1|zlib1g|libzstd1|liblzma5|libbz2-1.0|libtinfo6|libssl1.1|debconf|dpkg|tar|perl.*'

fail() { printf 'unpack-julia.sh: %s\n' "$*" >&2 && exit 1; }

# The first archive of Debian in apt's sources, of either format.
archive=$(find /etc/apt -name '*.list' -o -name '*.sources' | sort | xargs -r awk '
  $1 == "URIs:" || $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\/\/.*\/debian\/?$/ && !found++) print $i }')
for program in apt-get dpkg ldconfig; do
  PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null || fail "there is no $program"
done
[[ -e $keys ]] || fail "there is no $keys"
[[ -n $archive ]] || fail "the sources of apt name no archive of Debian"
[[ ${1:?unpack-julia.sh: which folder?} != --check ]] || exit 0

folder=$1
work=$(mktemp -d)
trap 'rm -rf "$work" "$folder.new"' EXIT
mkdir -p "$work"/{lists/partial,cache/archives/partial,debs,none}
echo "deb [signed-by=$keys] $archive bullseye main" >"$work/sources.list"
: >"$work/status" # assumes that nothing is installed: the same packages on every machine
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$work/sources.list" -o "Dir::Etc::sourceparts=$work/none"
  -o "Dir::Etc::preferencesparts=$work/none" -o "Dir::State::lists=$work/lists" -o "Dir::State::status=$work/status"
  -o "Dir::Cache=$work/cache" -o APT::Install-Recommends=false -o APT::Sandbox::User=root)
"${apt[@]}" update || fail "apt-get could not read the lists of Debian 11"
"${apt[@]}" install --simulate "$package" >"$work/plan" || fail "Debian 11 has no $package"
awk '$1 == "Inst" { print $2 }' "$work/plan" | grep -Evx "$of_the_system" >"$work/names"
(cd "$work/debs" && xargs "${apt[@]}" download <"$work/names") || fail "apt-get could not fetch what Julia needs"

rm -rf "$folder.new"
mkdir -p "$folder.new/bin"
for deb in "$work"/debs/*.deb; do dpkg -x "$deb" "$folder.new/root"; done
cat >"$folder.new/bin/julia" <<'END'
#!/bin/sh
root=$(cd "$(dirname "$(readlink -f "$0")")/../root" && pwd)
lib=$root/usr/lib/x86_64-linux-gnu
export JULIA_BINDIR="$root/usr/bin"
export LD_LIBRARY_PATH="$lib:$lib/julia:$lib/blas:$lib/lapack:$root/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# Debian's Julia is linked with libunwind, which has functions of the same names as libgcc_s. Unless libgcc_s is loaded first,
# the first exception in any C++ library ends the process.
gcc_s=$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p | awk '/libgcc_s\.so\.1/ { print $NF; exit }')
export LD_PRELOAD="$gcc_s${LD_PRELOAD:+:$LD_PRELOAD}"
exec "$root/usr/bin/julia" "$@"
END
chmod +x "$folder.new/bin/julia"
"$folder.new/bin/julia" --startup-file=no -e 'exit(VERSION < v"1.5")' || fail "what was unpacked does not run"
rm -rf "$folder"
mv "$folder.new" "$folder"
