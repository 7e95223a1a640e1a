// SPDX-License-Identifier: BSD-2-Clause
/* Java code of known shape: recursion through an interface and a lambda, and a thread that waits. Works until it is killed;
 * makes the file "ready" when its methods have been called so often that they are compiled. */
import java.nio.file.Files;
import java.nio.file.Path;
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

	public static void main(String[] arguments) throws Exception {
		Square square = new Square();
		Circle circle = new Circle();
		square.next = circle;
		circle.next = square;
		Thread sleeper = new Thread(() -> {
			while (true)
				sleepAgain();
		}, "sleeper");
		sleeper.setDaemon(true);
		sleeper.start();
		int sum = 0;
		for (int i = 0; ; i++) {
			sum += square.walk(20);
			sum += through(depth -> circle.walk(depth), 6);
			if (i == 15_000)
				Files.createFile(Path.of(arguments[0]));
		}
	}
}
