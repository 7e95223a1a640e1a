// SPDX-License-Identifier: BSD-2-Clause
/* Java code of known shape: recursion through an interface and a lambda, and threads that wait. Works until it is killed.
 * usage: java Names FILE ROUNDS: makes the file after so many rounds; its methods are compiled after 15,000. */
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntUnaryOperator;

public class Names {
	interface Shape {
		int walk(int depth);
	}

	static class Square implements Shape {
		Shape next;

		public int walk(int depth) {
			return depth <= 0 ? Names.work(40_000) : next.walk(depth - 1) + 1;
		}
	}

	static class Circle implements Shape {
		Shape next;

		public int walk(int depth) {
			return depth <= 0 ? Names.work(40_000) : next.walk(depth - 1) + 2;
		}
	}

	static volatile int sink;

	static int work(int rounds) {
		int sum = 0;
		for (int i = 0; i < rounds; i++)
			sum = sum * 31 + small(i);
		sink = sum;
		return sum & 1;
	}

	/* small enough to be inlined wherever it is compiled */
	static int small(int i) {
		return i ^ (i >>> 3);
	}

	static int through(IntUnaryOperator operator, int value) {
		return operator.applyAsInt(value);
	}

	static void sleepAgain() {
		try {
			Thread.sleep(20);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	static void waitForEver(Object object) {
		synchronized (object) {
			while (true) {
				try {
					object.wait();
				} catch (InterruptedException e) {
					return;
				}
			}
		}
	}

	static void parkForEver() {
		while (true)
			LockSupport.park(Names.class);
	}

	static void takeFrom(BlockingQueue<String> queue) {
		try {
			queue.take();
		} catch (InterruptedException e) {
			return;
		}
	}

	static void start(String name, Runnable runnable) {
		Thread thread = new Thread(runnable, name);
		thread.setDaemon(true);
		thread.start();
	}

	public static void main(String[] arguments) throws Exception {
		Square square = new Square();
		Circle circle = new Circle();
		square.next = circle;
		circle.next = square;
		start("sleeper", () -> {
			while (true)
				sleepAgain();
		});
		start("object-waiter", () -> waitForEver(new Object()));
		start("parker", Names::parkForEver);
		start("taker", () -> takeFrom(new LinkedBlockingQueue<>()));
		int rounds = Integer.parseInt(arguments[1]);
		int sum = 0;
		for (int i = 0; ; i++) {
			sum += square.walk(20);
			sum += through(depth -> circle.walk(depth), 6);
			if (i == rounds)
				Files.createFile(Path.of(arguments[0]));
		}
	}
}
