package leader

import (
	"fmt"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/fsm"
)

// BenchmarkRenewals renews a hundred thousand tenures in batches of a thousand,
// sixteen of them at a time, through a log that commits at once; the time is that
// of one renewal.
func BenchmarkRenewals(b *testing.B) {
	const tenures, batch, atOnce = 100_000, 1000, 16
	l := newBench(b)
	var requests []*Request
	for from := 0; from < tenures; from += batch {
		requests = append(requests, l.keeper(fmt.Sprint("replica-", from), batch, time.Minute))
	}
	l.entries = nil
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += batch * atOnce {
		var answers []<-chan []tenure.Result
		for i := range atOnce {
			next := requests[(done/batch+i)%len(requests)]
			answers = append(answers, l.submit(&Request{Commands: append([]fsm.Command(nil), next.Commands...)}))
		}
		for _, answer := range answers {
			if r := (<-answer)[0]; r.Err != nil {
				b.Fatal(r.Err)
			}
		}
	}
}
