# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Sourced by the scripts of this folder before they do anything: -h and --help print the comment at the script's head.

usage() { sed -n '3,/^$\|^[^#]/{s/^#$//p; s/^# \{0,1\}//p;}' "$0"; }

# wrong_usage WHY…
wrong_usage() {
	printf 'tools/%s: %s\n' "${0##*/}" "$*" >&2
	printf 'tools/%s --help says how it is called\n' "${0##*/}" >&2
	exit 2
}

# check_ctest_options OPTION…: ctest runs everything when it does not know an option.
check_ctest_options() {
	while [ $# -gt 0 ]; do
		case $1 in
		-R | -E | -L | -LE | -I | -j | --tests-regex | --exclude-regex | --label-regex | --label-exclude | --parallel | --repeat | --timeout)
			[ $# -gt 1 ] || wrong_usage "$1 needs a value"
			shift
			;;
		-j[0-9]* | -V | -VV | -N | --show-only | --rerun-failed | --stop-on-failure) ;;
		-*) wrong_usage "unknown option '$1'" ;;
		*) wrong_usage "unexpected argument '$1'; tests are chosen by: -R $1" ;;
		esac
		shift
	done
}

case ${1-} in
-h | --help) usage && exit 0 ;;
esac
