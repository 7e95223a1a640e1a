#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The example files are taken by those they are for, and the example programs do what their README says.
# usage: test_examples.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

examples=$here/../../user/manual/examples
# Behind a shim of shells it is seen when it runs already.
interpreter=$(python3 -c 'import sys; print(sys.executable)')

begin "configuration of serve"
"$pkbpf" serve --config "$examples/serve.conf" --check-config 2>err || fail "$(cat err)"
# What is commented out is right, too.
sed 's/^# \([a-z-]* = \)/\1/; s/^# \(\[.*\]\)$/\1/' "$examples/serve.conf" >whole.conf
"$pkbpf" serve --config whole.conf --check-config 2>err || fail "with all of it: $(cat err)"

begin "Prometheus"
if command -v promtool >/dev/null; then
	promtool check config "$examples/prometheus.yml" >out 2>&1 || fail "$(cat out)"
	promtool check rules "$examples/pkbpf.rules.yml" >out 2>&1 || fail "$(cat out)"
else
	not_checked "no promtool"
fi
"$pkbpf" serve -q --listen "$PWD/socket" --store "$PWD/store" -s 1s 2>err &
server=$!
curl_metrics() { curl -s --unix-socket socket http://pkbpf/metrics >metrics && grep -q '^pkbpf_last_slice_age_seconds' metrics; }
wait_until 60 curl_metrics || fail "serve has no metrics: $(cat err)"
kill "$server" && wait "$server"
for metric in $(grep -o '\bpkbpf_[a-z_]*' "$examples/pkbpf.rules.yml" | grep -v '^pkbpf_\(cpu\|runqueue\|lost\|self_cpu\)$' | sort -u); do
	grep -q "^${metric}[{ ]" metrics || fail "a rule asks for $metric, which serve does not have"
done

begin "Kubernetes"
sed -n '/serve.conf: |/,/^---/s/^    //p' "$examples/kubernetes.yaml" >pod.conf
head -c 32 /dev/zero | tr '\0' x >token && chmod 600 token
sed -i "s|/etc/pkbpf/token/token|$PWD/token|" pod.conf
grep -q '^listen = 0.0.0.0' pod.conf && "$pkbpf" serve --config pod.conf --check-config 2>err || fail "its configuration: $(cat err)"
if python3 -c 'import yaml' 2>/dev/null; then
	python3 - "$examples/kubernetes.yaml" <<'P' || fail "what it says of itself does not fit together"
import sys, yaml
parts = {part["kind"]: part for part in yaml.safe_load_all(open(sys.argv[1]))}
pod = parts["DaemonSet"]["spec"]["template"]
container = pod["spec"]["containers"][0]
assert parts["DaemonSet"]["spec"]["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["spec"]["volumes"]}
assert pod["spec"]["serviceAccountName"] == parts["ServiceAccount"]["metadata"]["name"]
assert {part["metadata"].get("namespace", "pkbpf") for part in parts.values()} == {parts["Namespace"]["metadata"]["name"]}
ports = {port["name"] for port in container["ports"]}
assert all(container[probe]["httpGet"]["port"] in ports for probe in ("startupProbe", "livenessProbe", "readinessProbe"))
P
else
	not_checked "its structure: no yaml for Python"
fi

begin "nginx"
if command -v nginx >/dev/null; then
	openssl req -x509 -newkey rsa:2048 -nodes -keyout pkbpf.key -out pkbpf.pem -subj /CN=pkbpf.example -days 1 2>err
	touch pkbpf.htpasswd
	{
		echo "error_log $PWD/log; pid $PWD/pid; events {} http { access_log off;"
		sed "s|/etc/[a-z/]*/pkbpf|$PWD/pkbpf|; s|listen 443|listen 127.0.0.1:14443|" "$examples/nginx.conf"
		echo "}"
	} >nginx.conf
	nginx -t -c "$PWD/nginx.conf" 2>err || fail "$(cat err)"
fi

begin "a training step: nested, with a percentage table and items per second by batch size"
record -e offcpu --regions -f text -o step.txt -o step.json -- "$interpreter" "$examples/training_step.py" 64 20 &&
	checker "$here/regions_check.py" counts step.json step=20 load=20 compute=20 optimizer=20
grep -q '^Regions of python' step.txt && grep -qE '^   compute +20 .*%' step.txt || fail "no table: $(cat step.txt)"
record -e offcpu --regions -o half.json -- "$interpreter" "$examples/training_step.py" 32 20 &&
	checker - step.json half.json <<-'END'
		import json, sys
		from checks import check
		both = [{r["name"]: r for r in json.load(open(path))["regions_by_name"]} for path in sys.argv[1:]]
		check([one["step"]["items"] for one in both] == [64 * 20, 32 * 20], "items follow the batch size")
		check(all(one["step"]["items_per_second"] > 0 for one in both), "so there is a throughput")
		check(both[0]["load"]["sleep_ns"] >= 20 * 2e6 * 0.99, "loading sleeps")
	END

begin "a web request: which of its parts is slow, and on which stacks"
record -e offcpu --region-frames -o web.json -o web.folded -- "$interpreter" "$examples/web_request.py" 100 &&
	checker "$here/regions_check.py" counts web.json request=100 render=100 send=100 database=10
[ "$(total ';[[]request];[[]database];.*sleep' web.folded)" -ge 198000 ] ||
	fail "the waits of the database are not below it: $(grep -c '\[database\]' web.folded) stacks"

begin "a gate in CI"
"$examples/latency_gate.sh" "$pkbpf" 30s >said 2>&1 || fail "status $? within the limit"
"$examples/latency_gate.sh" "$pkbpf" 1ms >said 2>&1
status=$?
[ $status = 3 ] && grep -q 'region\[request\].p99 is' said || fail "status $status beyond the limit"

begin "a gate that compares with the base branch"
cat >burn.py <<'END'
import sys, time
while time.thread_time() < float(sys.argv[1]):
    sum(range(1000))
END
# gate EXPECTED SECONDS [VARIABLE=VALUE]…
gate() {
	local expected=$1 seconds=$2
	shift 2
	env PKBPF="$pkbpf" RUNS=2 OPTIONS='-e cpu --frequency 999 --slice 100ms' CONDITIONS=$'cpu.total>+30%\n?cpu.function[none].self>+1%' "$@" \
		sh "$examples/regression_gate.sh" "$interpreter" burn.py "$seconds" >said 2>&1
	local status=$?
	[ $status = "$expected" ] || fail "status $status, not $expected: $(cat said)"
}
gate 0 0.6
grep -q 'nothing to compare with' pkbpf-out/comment.md || fail "without a baseline: $(cat said)"
gate 0 0.6 UPDATE=1
gate 0 0.6
grep -q '^- passed: .cpu.total' pkbpf-out/comment.md && [ -s pkbpf-out/diff.html ] || fail "the same: $(cat said)"
gate 3 1.3
grep -q '^- \*\*failed\*\*: .cpu.total' pkbpf-out/comment.md && grep -q '<failure' pkbpf-out/junit.xml || fail "slower: $(cat said)"
printf "#!/bin/sh\nexit 7\n" >fails && chmod +x fails
gate 7 0.6 PKBPF=./fails

begin "files that are in the program are those of the tree"
"$pkbpf" unpack >names || fail "status $?"
while read -r name; do
	mkdir -p unpacked
	"$pkbpf" unpack --to unpacked "$name" || fail "$name: status $?"
	original=$(find "$here/../../include/pkbpf" "$(dirname "$pkbpf")" "$here/../../user/manual/examples" "$here/../../user/export/json" "$here/../../user/diff" \
		"$(dirname "$pkbpf")/manual" -maxdepth 1 -name "$name" | head -n 1)
	cmp -s "$original" "unpacked/$name" || fail "$name is another than '$original'"
done <names
for name in pkbpf.h pkbpf_snapshot.h pkbpf.py pkbpf-python.zip pkbpf.1 serve.conf report.schema.json; do
	grep -qx "$name" names || fail "there is no $name"
done
"$pkbpf" unpack pkbpf.h nothing >out 2>err
[ $? = 2 ] && [ ! -e pkbpf.h ] || fail "a name that is none: $(cat err)"

conclude
