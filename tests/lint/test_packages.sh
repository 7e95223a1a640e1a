#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every row of the table in tools/packages is complete, and what is listed is what a build names.
set -u
root=$1
failed=0

failure() {
	printf '%s\n' "$*"
	failed=1
}

rows=0
while IFS= read -r row; do
	rows=$((rows + 1))
	read -ra words <<<"$row"
	((${#words[@]} == 8)) || failure "needs group, probe and six distributions: $row"
	[[ ${words[1]} =~ ^(command|module|header|file|names): ]] || failure "unknown probe: $row"
done < <(grep -E '^(build|test|kernels|arm64|fresh|bench) ' "$root/tools/packages")
((rows > 10)) || failure "only $rows rows found"

listed=$("$root/tools/packages" --list build) || failure 'the list failed'
[[ $listed == *libbpf* && $listed == *clang* ]] || failure "no libbpf or clang in: $listed"

# Called by somebody who cannot install, with nothing to be found, it must name packages and fail.
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
for program in id sed tr sort dirname pkg-config; do
	ln -s "$(command -v $program)" "$empty/"
done
rm "$empty/pkg-config"
printf '#!/bin/sh\nexit 1\n' >"$empty/pkg-config"
chmod 755 "$empty/pkg-config"
printf '#!/bin/sh\necho 1000\n' >"$empty/not-root"
chmod 755 "$empty/not-root"
ln -sf "$empty/not-root" "$empty/id"
said=$(PATH=$empty /bin/sh "$root/tools/packages" build 2>&1)
status=$?
[[ $status == 1 ]] || failure "exit $status instead of 1"
[[ $said == *libbpf* ]] || failure "does not name libbpf: $said"

# It installs where there is no /run/lock, and a terminal sees how far it is.
if [ "$(id -u)" = 0 ] && grep -qE '^ID=(debian|ubuntu)' /etc/os-release && unshare -m true 2>/dev/null &&
	command -v script >/dev/null; then
	rm "$empty/id"
	printf '#!/bin/sh\necho Unpacking something\n' >"$empty/apt-get"
	chmod 755 "$empty/apt-get"
	said=$(PATH=$empty:$PATH unshare -m script -qec "mount -t tmpfs tmpfs /run && sh '$root/tools/packages' build" /dev/null </dev/null)
	[[ $said == *$'\033[KUnpacking something'* ]] || failure "without /run/lock, on a terminal: $said"
	[[ $said == *'still missing'* ]] || failure "does not say that nothing was installed: $said"
	rm -f /tmp/pkbpf-packages.*
fi
exit $failed
