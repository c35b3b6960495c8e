package fsm_test

import (
	"fmt"
	"time"

	"example.com/tenure/fsm"
)

// A log of three entries: the founding, an acquire, and a batch in which
// another owner tries and the holder renews and releases.
func Example() {
	state := fsm.New()
	log := [][]fsm.Command{
		{{Kind: fsm.Cluster, Settings: fsm.Settings{ClusterID: "c1", LargestTTL: time.Hour}}},
		{{Kind: fsm.Acquire, Key: "tenant-42", Owner: "r7", RequestID: "q1", TTL: 10 * time.Second}},
		{
			{Kind: fsm.Acquire, Key: "tenant-42", Owner: "r8", RequestID: "q1", TTL: 10 * time.Second},
			{Kind: fsm.Renew, Key: "tenant-42", Owner: "r7", Epoch: 1, TTL: 10 * time.Second},
			{Kind: fsm.Release, Key: "tenant-42", Owner: "r7", Epoch: 1},
		},
	}
	for i, commands := range log {
		entry, err := fsm.AppendEntry(nil, commands)
		if err != nil {
			panic(err)
		}
		results, err := state.Apply(uint64(i+1), entry, nil)
		if err != nil {
			panic(err)
		}
		for _, r := range results {
			fmt.Println(i+1, r.Code == fsm.Held, r.Record.Epoch, r.Record.Held)
		}
	}
	fmt.Printf("%+v\n", state.Lookup("tenant-42").Record)
	// Output:
	// 1 false 0 false
	// 2 false 1 true
	// 3 true 1 true
	// 3 false 1 true
	// 3 false 1 false
	// {Key:tenant-42 Owner:r7 Epoch:1 ForgottenAtEpoch:0 Held:false}
}
