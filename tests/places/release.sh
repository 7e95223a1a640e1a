#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What tools/release makes of this commit: each file is what its name says, and fits the others.
# usage: release.sh
# shellcheck disable=SC2015 # a failure of either
set -u
export LC_ALL=C.UTF-8
here=$(dirname "$(readlink -f "$0")")
root=$(cd "$here/../.." && pwd -P)
work=$(mktemp -d /tmp/pkbpf-release-XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
fail() {
	echo "FAILED: $*"
	failures=$((failures + 1))
}

version=$("$root/tools/version")
"$root/tools/release" "$work/out" --arch x86_64 >"$work/said" 2>&1 || { tail -n 20 "$work/said" && exit 1; }
cd "$work/out" || exit 1
stem=pkbpf-$version-x86_64
sha256sum --quiet -c SHA256SUMS || fail "checksums"
[ "$(wc -l <SHA256SUMS)" = "$(find . -type f ! -name SHA256SUMS | wc -l)" ] || fail "checksums of some files only"
[ "$("./$stem" --version | head -n 1)" = "pkbpf $version" ] || fail "the program says it is $("./$stem" --version | head -n 1)"
"./$stem" --version | grep -q '^build: one static file' || fail "the program has libraries"
tar -xzf "$stem.tar.gz" -C "$work" && cmp "$work/$stem/pkbpf" "$stem" || fail "the archive has another program"
for paper in pkbpf.1 pkbpf.py pkbpf.h pkbpf.service serve.conf; do
	[ -s "$work/$stem/share/$paper" ] || fail "the archive lacks $paper"
done
rpm -qp --qf '%{NAME} %{VERSION} %{ARCH}\n' "$stem.rpm" | grep -qx "pkbpf ${version%%+*} x86_64" || fail "the rpm is $(rpm -qp "$stem.rpm")"
rpm -qpR "$stem.rpm" | grep -v '^rpmlib' && fail "the rpm needs something"
rpm2cpio "$stem.rpm" | (mkdir "$work/rpm" && cd "$work/rpm" && cpio -idm --quiet) && cmp "$work/rpm/usr/bin/pkbpf" "$stem" || fail "the rpm has another program"
[ "$(dpkg-deb -f ./*.deb Package)" = pkbpf ] || fail "the package of Debian"
tar -tf "$stem.oci.tar" | grep -qx index.json || fail "the image has no index"
tar -xzOf "pkbpf-$version.tar.gz" "pkbpf-$version/tools/version" >"$work/version" || fail "the sources lack a file"
commit=$(git -c safe.directory="$root" -C "$root" rev-parse HEAD)
grep -q "^archived='$commit'" "$work/version" || fail "the sources do not know their commit"
grep -q '<h1' pkbpf.1.html || fail "the manual has no headings"
python3 - "$stem" <<'P' || fail "the list of what is linked in"
import hashlib, json, sys
stem = sys.argv[1]
document = json.load(open(stem + ".spdx.json"))
packages = {package["name"]: package for package in document["packages"]}
texts = open("pkbpf-licences.txt").read()
assert packages["pkbpf"]["checksums"][0]["checksumValue"] == hashlib.sha256(open(stem, "rb").read()).hexdigest()
assert {"libc6-dev", "libbpf-dev", "libelf-dev", "libmbedtls-dev", "zlib1g-dev", "libzstd-dev"} <= set(packages), sorted(packages)
for name, package in packages.items():
    assert package["licenseDeclared"] not in ("", "NOASSERTION"), name
    assert name == "pkbpf" or f"\n{name} {package['versionInfo']}, of Debian" in texts, f"no licence of {name}"
print(f"ok: {len(packages) - 1} packages are linked in, each with its licence")
P
[ "$failures" = 0 ] && echo "all passed"
exit $((failures != 0))
