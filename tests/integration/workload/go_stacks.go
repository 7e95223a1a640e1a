// SPDX-License-Identifier: BSD-2-Clause
// Stacks of known depth that lead through each change of stacks that a Go program makes: to grow a goroutine's stack
// (morestack), into the run-time (systemstack), into C code (asmcgocall), and from C code back (cgocallback).
// usage: go_stacks SECONDS of CPU time; as a library: GoGrow(DEPTH), GoWork(DEPTH)
package main

/*
#cgo CFLAGS: -O2 -fomit-frame-pointer
extern void GoWork(int depth);
static __attribute__((noinline)) void c_leaf(int n) { for (volatile int i = 0; i < n; i++); }
static __attribute__((noinline)) void c_outer(int n) { volatile char room[100]; room[n & 7] = 1; c_leaf(n); room[1]++; }
static __attribute__((noinline)) void c_back(int depth) { volatile char room[200]; room[depth & 7] = 1; GoWork(depth); room[1]++; }
*/
import "C"
import (
	"os"
	"strconv"
	"syscall"
)

var sink byte

//go:noinline
func work() {
	for i := 0; i < 20000; i++ {
		sink += byte(i)
	}
}

//export GoWork
func GoWork(depth C.int) {
	if depth > 0 {
		C.c_back(depth - 1)
		return
	}
	C.c_outer(20000)
	work()
}

// Each call needs more than a new goroutine's whole stack.
//
//go:noinline
func second(n int) byte {
	var room [60000]byte
	room[n&32767] = 1
	return room[(n*7)&32767]
}

//go:noinline
func first(n int) byte { return second(n) + 1 }

//go:noinline
func recursion(n int) byte {
	var room [150]byte
	room[n&127] = byte(n)
	if n == 0 {
		work()
		return room[1]
	}
	return recursion(n-1) + room[n&63]
}

//export GoGrow
func GoGrow(depth C.int) {
	done := make(chan byte)
	for i := 0; i < 16; i++ {
		go func() { done <- first(i) }()
		sink += <-done
	}
	go func() { done <- recursion(int(depth)) }()
	sink += <-done
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func main() {
	if len(os.Args) < 2 {
		return
	}
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	for cpuSeconds() < seconds {
		GoWork(2)
		GoGrow(200)
	}
}
