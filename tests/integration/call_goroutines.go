// SPDX-License-Identifier: BSD-2-Clause

// Calls functions in goroutines whose stacks move.
package main

import (
	"fmt"
	"sync"
)

//go:noinline
func grow(depth int) int {
	var room [256]byte
	if depth == 0 {
		return int(room[depth])
	}
	return grow(depth-1) + 1
}

//go:noinline
func recovers() (result int) {
	defer func() {
		recover()
		result = 7
	}()
	panic("x")
}

func main() {
	var group sync.WaitGroup
	sums := make([]int, 100)
	for i := range sums {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for j := 0; j < 10; j++ {
				sums[i] += grow(100) + recovers()
			}
		}(i)
	}
	group.Wait()
	total := 0
	for _, sum := range sums {
		total += sum
	}
	fmt.Println("total", total)
}
