// SPDX-License-Identifier: BSD-2-Clause
/* Java code whose stacks have a known depth: recursion through an interface, synchronized methods and lambdas, with 31 calls of
 * step() below each leaf(). Its threads work and sleep until it is killed.
 * usage: java Depths FILE ROUNDS: makes the file after so many rounds of its first thread, and once nothing has been compiled for
 * 500 ms: pkbpf reads new code some time after it runs, and says so of the stacks until then. */
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongUnaryOperator;

public class Depths {
	static final int DEPTH = 30;
	static volatile long sink;
	/* No constant: in a loop with a constant step the compiler leaves out safepoints, and with them the places whose callers it
	 * describes. */
	static int one = 1;

	interface Node {
		long step(int depth, long value);
	}

	static class Plain implements Node {
		Node next;

		public long step(int depth, long value) {
			return depth == 0 ? leaf(value) : next.step(depth - 1, value * 31 + depth);
		}
	}

	static class Locked implements Node {
		Node next;

		public synchronized long step(int depth, long value) {
			return depth == 0 ? leaf(value) : next.step(depth - 1, value ^ depth);
		}
	}

	static class Lambda implements Node {
		Node next;

		public long step(int depth, long value) {
			if (depth == 0)
				return leaf(value);
			LongUnaryOperator call = x -> next.step(depth - 1, x + depth);
			return call.applyAsLong(value);
		}
	}

	static long leaf(long value) {
		long sum = value;
		for (int i = 0; i < 2000; i += one)
			sum = (sum * 6364136223846793005L + i) ^ (sum >>> 17);
		sum += new StringBuilder().append(sum).append('x').toString().hashCode();
		if ((sum & 255) == 0) {
			try {
				Thread.sleep(1);
			} catch (InterruptedException e) {
				return 0;
			}
		}
		return sum;
	}

	/* Whether the compilers have been at rest for 500 ms when this is asked again and again. */
	static class Rest {
		final CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
		long total = -1, since;

		boolean reached() {
			long now = System.nanoTime();

			/* There is none with -Xint. */
			if (compilers == null)
				return true;
			if (compilers.getTotalCompilationTime() != total) {
				total = compilers.getTotalCompilationTime();
				since = now;
			}
			return now - since > 500_000_000L;
		}
	}

	static void work(String file, long rounds) {
		Plain plain = new Plain();
		Locked locked = new Locked();
		Lambda lambda = new Lambda();
		Rest rest = file == null ? null : new Rest();
		long sum = 0;

		plain.next = locked;
		locked.next = lambda;
		lambda.next = plain;
		for (long i = 0; true; i++) {
			sum += plain.step(DEPTH, sum);
			sink = sum;
			if (rest != null && i >= rounds && i % 100 == 0 && rest.reached()) {
				rest = null;
				try {
					Files.createFile(Path.of(file));
				} catch (Exception e) {
					System.exit(1);
				}
			}
		}
	}

	public static void main(String[] arguments) {
		new Thread(() -> work(arguments[0], Long.parseLong(arguments[1])), "depths-0").start();
		new Thread(() -> work(null, 0), "depths-1").start();
	}
}
