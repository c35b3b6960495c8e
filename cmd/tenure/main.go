package main

import (
	"context"
	"os"
)

func main() {
	err := exec(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
	os.Exit(exitCode(err))
}
