#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The image of the program of one file, run by runc: a read-only root, seven capabilities, no new privileges, pids of the host.
# usage: image.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=../integration/prelude.sh
. "$(dirname "$(readlink -f "$0")")/../integration/prelude.sh" "$@"
here=$(readlink -f "$here/../integration")
tools=$here/../../tools
jobs_started=()
cleanup() {
	for job in "${jobs_started[@]}"; do kill "$job" 2>/dev/null; done
}

begin "the same program makes the same image"
"$tools/image" "$pkbpf" one.tar --tag pkbpf:test >said || give_up "no image: $(cat said)"
"$tools/image" "$pkbpf" two.tar --tag pkbpf:test >said
cmp -s one.tar two.tar || fail "another one"
"$tools/image" /bin/sh "$work/nowhere/x.tar" >out 2>err && fail "an image in a folder that is not there"
"$tools/image" "$here/prelude.sh" three.tar >out 2>err && fail "an image of a script"
[ -e three.tar ] && fail "something was written"

begin "its parts are those that it names"
mkdir layout && tar xf one.tar -C layout
python3 - <<'P' || fail "a digest or a size is wrong"
import gzip, hashlib, json, pathlib, sys, tarfile
def blob(of):
    data = pathlib.Path("layout/blobs/sha256", of["digest"].split(":")[1]).read_bytes()
    assert len(data) == of["size"] and "sha256:" + hashlib.sha256(data).hexdigest() == of["digest"]
    return data
index = json.load(open("layout/index.json"))
manifest = json.loads(blob(index["manifests"][0]))
config = json.loads(blob(manifest["config"]))
layer = gzip.decompress(blob(manifest["layers"][0]))
assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest()]
assert config["config"]["Entrypoint"] == ["/pkbpf"] and index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"] == "pkbpf:test"
pathlib.Path("layer.tar").write_bytes(layer)
P

if ! command -v runc >/dev/null; then
	not_checked "no runc to run it by"
	conclude
fi
begin "it profiles the host from a container"
mkdir -p bundle/rootfs && tar xf layer.tar -C bundle/rootfs
(cd bundle && runc spec) || give_up "runc makes no specification"
"$workloads/spin" 300 >/dev/null 2>&1 &
spin=$!
jobs_started+=($!)
specify() { # ARGUMENT…: what the container runs
	python3 - "$@" <<'P'
import json, sys
spec = json.load(open("bundle/config.json"))
process = spec["process"]
process["terminal"], process["noNewPrivileges"], process["args"] = False, True, ["/pkbpf", *sys.argv[1:]]
names = ["CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH", "CAP_SYSLOG", "CAP_SETUID", "CAP_SETGID"]
process["capabilities"] = {kind: names for kind in ("bounding", "effective", "permitted")}
spec["root"]["readonly"] = True
spec["linux"]["namespaces"] = [kind for kind in spec["linux"]["namespaces"] if kind["type"] not in ("pid", "network")]
json.dump(spec, open("bundle/config.json", "w"))
P
}
specify -q -p $spin -d 1 -e cpu -f folded
(cd bundle && timeout 60 runc run "pkbpf-image-$$") >folded 2>err || fail "status $?: $(cat err)"
grep -q '^spin;.*main' folded || fail "no names: $(head -n 3 folded) $(cat err)"
specify doctor
(cd bundle && timeout 60 runc run "pkbpf-image-$$") >doctor 2>err || fail "doctor: $(cat doctor err)"
grep -q 'profiling will work' doctor || fail "doctor: $(cat doctor)"

conclude
