package fleet

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"example.com/tenure/examples/ledger/replica"
	"example.com/tenure/examples/ledger/store"
)

// A Report says what the ledgers hold, and what is wrong with them.
type Report struct {
	Acknowledged int      // entries
	Entries      int      // in the ledgers; those of unknown outcome may be among them
	Reads        int      // while the fleet ran
	Tenures      int      // that wrote to the ledgers
	Violations   []string // promises that were broken
}

// Check reads all ledgers from the disk, when no replica runs, and compares them
// with the book of a load that has stopped.
func Check(ctx context.Context, cfg Config, l *Load) (Report, error) {
	report := Report{Acknowledged: l.Acknowledged(), Reads: l.reads, Violations: l.stale}
	ledgers := store.New(l.fleet.ledgerDir())
	for _, tenant := range replica.Tenants(cfg.Tenants) {
		snapshot, err := ledgers.Latest(ctx, tenant)
		if err != nil {
			return report, err
		}
		report.Entries += len(snapshot.Entries)
		report.Tenures += tenures(snapshot.Entries)
		for _, v := range checkLedger(l.book[tenant], l.sent, snapshot.Entries) {
			report.Violations = append(report.Violations, tenant+": "+v)
		}
	}
	return report, nil
}

// checkLedger returns what is wrong with one ledger, given what was acknowledged
// and the highest number that each writer has sent. Somebody else may have
// appended entries of their own.
func checkLedger(acks []Ack, sent map[string]int, entries []store.Entry) []string {
	violations := missing(acks, entries)
	ids := make(map[string]bool, len(entries))
	last := make(map[string]int)
	var epoch uint64
	for i, e := range entries {
		writer, n := parseID(e.ID)
		switch {
		case e.Seq != uint64(i+1):
			violations = append(violations, fmt.Sprintf("%+v is at place %d", e, i+1))
		case ids[e.ID]:
			violations = append(violations, fmt.Sprintf("%+v is there twice", e))
		case e.Epoch < epoch:
			violations = append(violations, fmt.Sprintf("%+v follows an entry of epoch %d", e, epoch))
		case sent[writer] > 0 && n > sent[writer]:
			violations = append(violations, fmt.Sprintf("%+v was never sent", e))
		case sent[writer] > 0 && n <= last[writer]:
			violations = append(violations, fmt.Sprintf("%+v comes after entry %d of its writer", e, last[writer]))
		}
		ids[e.ID], last[writer], epoch = true, n, e.Epoch
	}
	return violations
}

// missing returns what was acknowledged and is not where the acknowledgement
// says.
func missing(acks []Ack, entries []store.Entry) []string {
	var violations []string
	for _, ack := range acks {
		switch {
		case ack.Seq == 0 || ack.Seq > uint64(len(entries)):
			violations = append(violations, fmt.Sprintf("acknowledged %+v is lost: the ledger has %d entries", ack, len(entries)))
		case entries[ack.Seq-1].ID != ack.ID || entries[ack.Seq-1].Epoch != ack.Epoch:
			violations = append(violations, fmt.Sprintf("acknowledged %+v is lost: %+v is in its place", ack, entries[ack.Seq-1]))
		}
	}
	return violations
}

func tenures(entries []store.Entry) int {
	count, epoch := 0, uint64(0)
	for _, e := range entries {
		if e.Epoch != epoch {
			count++
		}
		epoch = e.Epoch
	}
	return count
}

// parseID returns the writer and the number in an id that entryID made.
func parseID(id string) (writer string, n int) {
	writer, number, _ := strings.Cut(id, "-")
	n, err := strconv.Atoi(number)
	if err != nil {
		return "", 0
	}
	return writer, n
}
