package main

import (
	"context"
	"fmt"
)

// dawdler begins to stop at the first signal, as serve does, and never ends.
func dawdler() {
	ctx, cancel := untilSignal(context.Background())
	defer cancel()
	fmt.Println("up")
	<-ctx.Done()
	fmt.Println("stopping")
	select {}
}
