# SPDX-License-Identifier: BSD-2-Clause
# Starts stock programs under load for tests and benchmarks; sourced, not run.
# shellcheck shell=bash
#
# Each program is a function program_NAME SECONDS. It runs in a new folder below $programs_folder, keeps the program busy
# for at least SECONDS and calls one of
#
#	record_command COMMAND…    a command, from its first instruction
#	record_pids PID[,PID…]     servers that are already under load
#
# which the caller defines. It returns 77 when the program is not installed here, and leaves nothing running.
#
# What counts as the program is said by comm_of: a pattern for the first frame of a folded stack.

programs_folder=
programs_running=()

# in_background COMMAND…: started, remembered, silent; its pid is in $!, and leads a group: drivers of compilers end without
# what they have started
in_background() {
	setsid "$@" >log."${#programs_running[@]}" 2>&1 </dev/null &
	programs_running+=($!)
}

programs_stop() {
	local pid
	for pid in ${programs_running[@]+"${programs_running[@]}"}; do
		kill -- -"$pid" 2>/dev/null
	done
	for pid in ${programs_running[@]+"${programs_running[@]}"}; do
		wait "$pid" 2>/dev/null
	done
	programs_running=()
}

# await COMMAND…: up to a minute
await() {
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	echo "gave up waiting for: $*" >&2
	return 1
}

need() {
	local name
	for name; do
		command -v "$name" >/dev/null 2>&1 || return 77
	done
}

# Python of the distribution, not one that somebody built and put before it.
distribution_python() { PATH=/usr/bin:/bin command -v python3; }

# comm_of NAME: how the stacks of the program begin
comm_of() {
	case $1 in
	cc1plus) echo '^cc1plus$' ;;
	clang*) echo '^clang' ;;
	python3) echo '^python3' ;;
	node) echo '^(node|libuv|V8|Delayed|npm)' ;;
	*) echo . ;;
	esac
}

program_postgres() {
	local bin data=$PWD/data run
	bin=$(pg_config --bindir 2>/dev/null || true)
	[ -x "$bin/initdb" ] || bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
	[ -x "$bin/initdb" ] && need pgbench || return 77
	chmod 711 "$programs_folder" && chown postgres . || return 1
	run="setpriv --reuid=postgres --regid=postgres --clear-groups env HOME=$PWD"
	$run "$bin/initdb" -D "$data" -A trust -E UTF8 --locale=C --no-sync >initdb.log 2>&1 || return 1
	in_background $run "$bin/postgres" -D "$data" -k "$PWD" -c listen_addresses= -c fsync=off \
		-c shared_buffers=64MB -c logging_collector=off
	local server=$!
	await $run "$bin/pg_isready" -h "$PWD" || return 1
	$run pgbench -h "$PWD" -i -s 5 -q postgres >init.log 2>&1 || return 1
	in_background $run pgbench -h "$PWD" -n -c 3 -j 1 -T $(($1 + 20)) postgres
	sleep 0.3
	# Signal numbers and the like stay as they are: setpriv and env become postgres by exec.
	record_pids "$server"
	local status=$?
	programs_stop
	return $status
}

program_nginx() {
	local port=$((20000 + $$ % 20000))
	need nginx curl || return 77
	mkdir -p www && head -c 20000 /dev/zero | tr '\0' x >www/index.html
	chmod -R a+rX . && chmod 711 "$programs_folder"
	cat >nginx.conf <<-END
		daemon off;
		worker_processes 1;
		error_log $PWD/error.log;
		pid $PWD/nginx.pid;
		events { worker_connections 256; }
		http {
			access_log $PWD/access.log;
			gzip on; gzip_types *; gzip_comp_level 6;
			client_body_temp_path $PWD/b; proxy_temp_path $PWD/p; fastcgi_temp_path $PWD/f;
			uwsgi_temp_path $PWD/u; scgi_temp_path $PWD/s;
			server { listen 127.0.0.1:$port; root $PWD/www; }
		}
	END
	in_background nginx -c "$PWD/nginx.conf" -p "$PWD"
	local server=$!
	await curl -sf "http://127.0.0.1:$port/" || return 1
	# Each curl asks a thousand times over kept connections; the list of addresses is its config.
	for _ in $(seq 1000); do
		printf 'url = "http://127.0.0.1:%s/"\noutput = /dev/null\ncompressed\n' "$port"
	done >requests
	in_background timeout $(($1 + 20)) bash -c 'while :; do curl -s -K requests || sleep 0.1; done'
	sleep 0.3
	record_pids "$(pgrep -d , -P "$server")"
	local status=$?
	programs_stop
	return $status
}

program_redis() {
	need redis-server redis-benchmark || return 77
	in_background redis-server --port 0 --unixsocket "$PWD/socket" --save '' --appendonly no --dir "$PWD"
	local server=$!
	await redis-cli -s socket ping || return 1
	in_background timeout $(($1 + 20)) bash -c 'while :; do
		redis-benchmark -q -s socket -n 20000 -c 20 -t set,get,lpush,zadd,lrange_100; done'
	sleep 0.3
	record_pids "$server"
	local status=$?
	programs_stop
	return $status
}

program_python3() {
	cat >load.py <<-'END'
		import json, re, sys, time, zlib, sqlite3, hashlib
		def nested(depth):
		    return {"k": nested(depth - 1), "l": list(range(depth))} if depth else "leaf"
		def sorted_by_key(n):
		    return sorted(range(n), key=lambda x: (x * 7919) % 1009)
		end = time.monotonic() + float(sys.argv[1])
		while time.monotonic() < end:
		    text = json.dumps(nested(40))
		    json.loads(text)
		    re.findall(r"(\d+), (\d+)", text)
		    zlib.compress(text.encode() * 20)
		    hashlib.sha256(text.encode() * 50).hexdigest()
		    sorted_by_key(3000)
		    db = sqlite3.connect(":memory:")
		    db.execute("create table t(a, b)")
		    db.executemany("insert into t values (?, ?)", ((i, str(i)) for i in range(500)))
		    db.execute("select b, count(*) from t group by a % 7 order by b").fetchall()
	END
	record_command "$(distribution_python)" load.py "$1"
}

program_perl() {
	need perl || return 77
	cat >load.pl <<-'END'
		use strict; use Time::HiRes 'time'; use Data::Dumper; use List::Util 'sum';
		my $end = time() + $ARGV[0];
		sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
		while (time() < $end) {
			fib(15);
			my %h = map { $_ => [split //, $_ * 7919] } 1 .. 500;
			my @k = sort { sum(@{$h{$a}}) <=> sum(@{$h{$b}}) || $a <=> $b } keys %h;
			my $t = Dumper(\%h); my $c = () = $t =~ /'(\d)'/g; $t =~ s/(\d+)/<$1>/g;
		}
	END
	record_command perl load.pl "$1"
}

# A translation unit with much of the standard library and templates that nest: some seconds of work, or minutes of it
# for whoever asks for more than one.
write_cplusplus() {
	local copies=$(($1 > 60 ? 60 : 1))
	cat >unit.cc <<-END
		#include <algorithm>
		#include <functional>
		#include <iostream>
		#include <map>
		#include <memory>
		#include <regex>
		#include <string>
		#include <unordered_map>
		#include <utility>
		#include <vector>
		template <int N, int C> struct chain { static std::map<int, std::string> f(int x) {
			std::vector<std::function<int(int)>> v;
			v.push_back([x](int y) { return x * y + N; });
			auto m = chain<N - 1, C>::f(x + v[0](N));
			m[N] = std::to_string(N + x);
			std::sort(v.begin(), v.end(), [](auto &, auto &) { return false; });
			return m; } };
		template <int C> struct chain<0, C> { static std::map<int, std::string> f(int) { return {}; } };
		template <int... C> size_t chains(std::integer_sequence<int, C...>, int x) {
			return (chain<25, C>::f(x).size() + ...); }
		int main(int argc, char **argv) {
			std::unordered_map<std::string, std::shared_ptr<std::regex>> r;
			for (int i = 0; i < argc; i++) r[argv[i]] = std::make_shared<std::regex>(argv[i]);
			for (auto &[k, v] : r) std::cout << k << std::regex_match(k, *v);
			return (int)chains(std::make_integer_sequence<int, $copies>(), argc);
		}
	END
}

program_cc1plus() {
	need g++ || return 77
	write_cplusplus "$1"
	record_command g++ -std=c++17 -O2 -c unit.cc -o unit.o
}

program_clang() {
	need clang || return 77
	write_cplusplus "$1"
	record_command clang++ -std=c++17 -O2 -c unit.cc -o unit.o
}

program_sqlite3() {
	need sqlite3 || return 77
	{
		echo 'create table t(a integer primary key, b text, c real);'
		echo "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
			insert into t select i, hex(randomblob(12)), i * 0.37 from n;"
		echo 'create index tb on t(b);'
		# Far more than fits in the time: the command is stopped by timeout.
		yes 'select substr(b, 1, 2) k, count(*), sum(c) from t where b like "%A%" group by k order by 3 desc limit 2;
			select count(*) from t x join t y on y.a = x.a + 1 where y.b > x.b;' | head -n 200000
	} >script.sql
	record_command timeout -s INT "$1" sqlite3 -batch :memory: '.read script.sql'
}

# Assembly whose frames are described by expressions: signatures, their inverses, and ciphers.
program_openssl() {
	need openssl || return 77
	record_command timeout "$1" bash -c 'while :; do
		openssl speed -seconds 1 ecdsap384 rsa2048 dsa2048 >/dev/null 2>&1; openssl speed -seconds 1 -evp aes-256-gcm >/dev/null 2>&1; done'
}

# A program in Rust that the distribution has built.
program_ripgrep() {
	need rg || return 77
	# Where the host has taken the page cache back, the first search waits three seconds for the disk.
	rg -j 2 --no-ignore --hidden -c unwind /usr/include /usr/lib/python3 >/dev/null
	record_command timeout "$1" bash -c 'while :; do
		rg -j 2 --no-ignore --hidden -c "(foo|bar)[a-z]+\s+[0-9]{2}|unwind.*table" /usr/include /usr/lib/python3 >/dev/null; done'
}

# A program in Go that the distribution has built.
program_fzf() {
	need fzf || return 77
	seq 400000 | sed 's/.*/some text & and more of it &/' >lines
	record_command timeout "$1" bash -c 'while :; do fzf --filter "txt 17 mor" <lines >/dev/null; done'
}

program_rust() {
	need rustc || return 77
	cat >load.rs <<-'END'
		use std::collections::{BTreeMap, HashMap};
		use std::time::{Duration, Instant};
		fn descend(n: u32, m: &mut HashMap<String, u64>) -> u64 {
		    if n == 0 { return m.len() as u64; }
		    *m.entry(format!("key {}", n % 50)).or_insert(0) += n as u64;
		    descend(n - 1, m) + 1
		}
		fn work(end: Instant) -> u64 {
		    let mut sum = 0;
		    while Instant::now() < end {
		        let mut m = HashMap::new();
		        sum += descend(60, &mut m);
		        let b: BTreeMap<_, _> = m.iter().map(|(k, v)| (v, k)).collect();
		        let mut v: Vec<_> = b.values().map(|s| s.to_uppercase()).collect();
		        v.sort_by(|a, b| b.cmp(a));
		        sum += v.iter().map(|s| s.len() as u64).sum::<u64>();
		    }
		    sum
		}
		fn main() {
		    let s: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
		    let end = Instant::now() + Duration::from_secs(s);
		    let t = std::thread::spawn(move || work(end));
		    println!("{}", work(end) + t.join().unwrap());
		}
	END
	rustc -O load.rs -o load_rust >rustc.log 2>&1 || return 1
	record_command ./load_rust "$1"
}

program_go() {
	local go
	go=$(command -v go || printf '%s\n' /usr/lib/go-*/bin/go | tail -n 1)
	[ -x "$go" ] || return 77
	cat >load.go <<-'END'
		package main

		import ("bytes"; "compress/gzip"; "encoding/json"; "fmt"; "os"; "regexp"; "sort"; "strconv"; "sync"; "time")

		type node struct { Name string; Children []*node }

		func tree(depth int) *node {
			n := &node{Name: "n" + strconv.Itoa(depth)}
			if depth > 0 { n.Children = []*node{tree(depth - 1), tree(depth - 1)} }
			return n
		}
		func walk(n *node) int { s := len(n.Name); for _, c := range n.Children { s += walk(c) }; return s }

		func main() {
			seconds, _ := strconv.Atoi(os.Args[1])
			end := time.Now().Add(time.Duration(seconds) * time.Second)
			var all sync.WaitGroup
			for g := 0; g < 3; g++ {
				all.Add(1)
				go func() {
					defer all.Done()
					digits := regexp.MustCompile(`n(\d+)`)
					for time.Now().Before(end) {
						t := tree(9)
						text, _ := json.Marshal(t)
						var packed bytes.Buffer
						z := gzip.NewWriter(&packed)
						z.Write(text)
						z.Close()
						found := digits.FindAllString(string(text), 500)
						sort.Strings(found)
						m := map[string]int{}
						for _, f := range found { m[f] += walk(t) }
						fmt.Fprint(&packed, m)
					}
				}()
			}
			all.Wait()
		}
	END
	GOCACHE=$PWD/cache GOPATH=$PWD/path GO111MODULE=off "$go" build -o load_go load.go >go.log 2>&1 || return 1
	record_command ./load_go "$1"
}

program_node() {
	need node || return 77
	cat >load.js <<-'END'
		const zlib = require('zlib'), crypto = require('crypto');
		function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
		function tree(d) { return d ? { name: 'n' + d, l: tree(d - 1), r: tree(d - 1) } : null; }
		const end = Date.now() + 1000 * Number(process.argv[2]);
		while (Date.now() < end) {
			fib(20);
			const text = JSON.stringify(tree(9));
			JSON.parse(text);
			text.match(/"n(\d+)"/g).map(Number).sort((a, b) => a - b);
			zlib.deflateSync(text);
			crypto.createHash('sha256').update(text).digest('hex');
			[...Array(2000).keys()].map(x => [x, String(x)]).sort((a, b) => a[1] < b[1] ? -1 : 1);
		}
	END
	record_command node load.js "$1"
}

program_java() {
	need java javac || return 77
	cat >Load.java <<-'END'
		import java.util.*;
		import java.util.stream.*;
		public class Load {
			static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
			static String text(int d) { return d == 0 ? "x" : "(" + text(d - 1) + d + text(d - 1) + ")"; }
			public static void main(String[] arguments) throws Exception {
				long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
				long sum = 0;
				while (System.nanoTime() < end) {
					sum += fib(22);
					String s = text(8);
					sum += s.replaceAll("[0-9]+", "n").length();
					Map<Integer, Long> m = IntStream.range(0, 3000).boxed()
						.collect(Collectors.groupingBy(x -> x * 7919 % 97, TreeMap::new, Collectors.counting()));
					sum += m.size();
				}
				System.out.println(sum);
			}
		}
	END
	javac Load.java || return 1
	record_command java -XX:+PreserveFramePointer -Xshare:auto -cp . Load "$1"
}

# with_program NAME SECONDS: in a folder of its own, that is gone afterwards; 77: not installed
with_program() {
	local folder status
	folder=$(mktemp -d "$programs_folder/$1-XXXXXX")
	pushd "$folder" >/dev/null || return 1
	"program_$1" "$2" </dev/null
	status=$?
	programs_stop
	if [ $status != 0 ] && [ $status != 77 ] && [ $status != 124 ]; then
		tail -n 5 ./*log* 2>/dev/null
	fi
	popd >/dev/null || return 1
	rm -rf "$folder"
	return $status
}
