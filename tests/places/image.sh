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
	wait 2>/dev/null
	rm -f "${log-}"
	rmdir /var/log/containers 2>/dev/null
	[ ! -d "${pods-}" ] || find "$pods" -depth -type d -exec rmdir {} + 2>/dev/null
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
# As the example for Kubernetes wants it: these rights, the host's pids and cgroups, and a cgroup namespace of its own.
specify() { # ARGUMENT…: what the container runs
	python3 - "$here/../../user/manual/examples/kubernetes.yaml" "$@" <<'P'
import json, os, re, sys
spec = json.load(open("bundle/config.json"))
process = spec["process"]
process["terminal"], process["noNewPrivileges"], process["args"] = False, True, ["/pkbpf", *sys.argv[2:]]
names = ["CAP_" + name for name in re.search(r"^ *add: \[(.*?)\]", open(sys.argv[1]).read(), re.M)[1].split(", ")]
assert len(names) == 7, names
process["capabilities"] = {kind: names for kind in ("bounding", "effective", "permitted")}
spec["root"]["readonly"] = True
spec["linux"]["namespaces"] = [kind for kind in spec["linux"]["namespaces"] if kind["type"] not in ("pid", "network", "cgroup")]
spec["linux"]["namespaces"].append({"type": "cgroup"})
for folder in ("/sys/fs/cgroup", "/var/log/containers"):
    if os.path.isdir(folder):
        spec["mounts"] = [mount for mount in spec["mounts"] if mount["destination"] != folder]
        spec["mounts"].append({"destination": folder, "type": "bind", "source": folder, "options": ["rbind", "ro"]})
json.dump(spec, open("bundle/config.json", "w"))
P
}
specify -q -p $spin -d 1 -e cpu -f folded
(cd bundle && timeout 60 runc run "pkbpf-image-$$") >folded 2>err || fail "status $?: $(cat err)"
grep -q '^spin;.*main' folded || fail "no names: $(head -n 3 folded) $(cat err)"
specify doctor
(cd bundle && timeout 60 runc run "pkbpf-image-$$") >doctor 2>err || fail "doctor: $(cat doctor err)"
grep -q 'profiling will work' doctor || fail "doctor: $(cat doctor)"
grep -q '^ok *initial cgroup namespace' doctor || fail "the host's cgroups are not seen: $(grep cgroup doctor)"

begin "a pod of the node has its name"
for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ -e $root/cgroup.controllers ] && break
done
id=$(printf '%064x' $((0x5eed00000000 + $$)))
pods=$root/kubepods-$$.slice
pod=$pods/kubepods-pod11111111_2222_3333_4444_555555555555.slice/cri-containerd-$id.scope
log=/var/log/containers/web-1_shop_app-$id.log
if mkdir -p "$pod" 2>/dev/null && mkdir -p /var/log/containers && : >"$log"; then
	echo "$spin" >"$pod/cgroup.procs"
	specify -q -d 1 -e cpu --container shop/web-1/app -f json
	(cd bundle && timeout 60 runc run "pkbpf-image-$$") >pod.json 2>err || fail "status $?: $(cat err)"
	grep -q '"container": *"[^"]*shop/web-1/app"' pod.json || fail "it has no name: $(grep -o '"container": *"[^"]*"' pod.json | head -n 3)"
else
	not_checked "no cgroup v2 hierarchy that can be written"
fi

conclude
