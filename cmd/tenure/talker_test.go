package main

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
)

// talker is a command for the tests of run: it answers lines and interrupts, and exits 9 at the end
// of its input.
func talker() {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		for range interrupts {
			fmt.Println("interrupted")
		}
	}()
	fmt.Println("up")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Printf("got <%s>\n", lines.Text())
	}
	os.Exit(9)
}
