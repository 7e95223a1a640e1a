# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Sourced, with $root: packages of any suite and architecture of Debian, and of Ubuntu's suites for x86-64, without root and beside
# what is installed.

is_ubuntu() { [[ $1 == jammy || $1 == noble ]]; }

# The mirror this machine itself uses, when it is a Debian.
mirror() {
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
		grep -v '^ *#' | grep -oE 'https?://[^ ]*/debian/?( |$)' | head -n 1 | grep . || echo http://deb.debian.org/debian
}

# private_apt_sources FOLDER SUITE plain|security: what the apt in FOLDER knows, and that nothing is installed.
private_apt_sources() {
	local dir=$1 suite=$2 key=/usr/share/keyrings/debian-archive-keyring.gpg
	mkdir -p "$dir"/{state/lists/partial,cache/archives/partial,debs}
	: >"$dir/status"
	if is_ubuntu "$suite"; then
		key=${root:?}/tools/ubuntu-archive-key.asc
		echo "deb [signed-by=$key] http://archive.ubuntu.com/ubuntu $suite main" >"$dir/sources.list"
		[[ $3 == plain ]] ||
			echo "deb [signed-by=$key] http://archive.ubuntu.com/ubuntu $suite-updates main" >>"$dir/sources.list"
		return
	fi
	{
		echo "deb [signed-by=$key] $(mirror) $suite main"
		[[ $3 == plain || $suite == sid ]] ||
			echo "deb [signed-by=$key] $(mirror | sed 's,/debian/\?$,/debian-security,') $suite-security main"
	} >"$dir/sources.list"
}

# private_apt FOLDER ARCH APT-GET-ARGUMENTS…: an apt of its own in FOLDER that knows one suite of one architecture.
private_apt() {
	local dir=$1 arch=$2
	shift 2
	timeout 120 apt-get -qq -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State="$dir/state" -o Dir::State::lists="$dir/state/lists" -o Dir::State::status="$dir/status" \
		-o Dir::Cache="$dir/cache" -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
		-o APT::Sandbox::User="$(id -un)" -o Acquire::Check-Valid-Until=false -o Acquire::Retries=3 \
		-o Acquire::Languages=none -o Acquire::GzipIndexes=false "$@"
}

# private_apt_names FOLDER ARCH PACKAGE…: these and what they depend on.
private_apt_names() {
	private_apt "$1" "$2" install --print-uris --no-install-recommends "${@:3}" |
		grep -oE '/[^_/ ]+_[^ ]*\.deb' | sed 's,^/,,; s/_.*//; s/%2[bB]/+/g' | sort -u
}
