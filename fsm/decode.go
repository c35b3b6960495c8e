package fsm

import "time"

// DecodeEntry returns the commands of a log entry. [AppendEntry] makes the same
// bytes of them. The errors are those of [State.Apply]; what an entry makes it
// allocate is bounded by [MaxCommands] and the entry's length.
func DecodeEntry(entry []byte) ([]Command, error) {
	var t items
	n, err := t.check(entry)
	if err != nil {
		return nil, err
	}
	owners := make([]string, len(t.owners)) // each is made once, and shared
	for i, owner := range t.owners {
		owners[i] = string(owner)
	}
	commands := make([]Command, 0, n)
	for t.rewind(); t.next(); {
		owner := ""
		if shapes[t.head.form].owner {
			owner = owners[t.head.owner]
		}
		commands = append(commands, t.item.command(owner))
	}
	return commands, nil
}

func (c *item) command(owner string) Command {
	return Command{
		Kind:      c.kind,
		Key:       string(c.key),
		Owner:     owner,
		RequestID: string(c.id),
		Epoch:     c.epoch,
		TTL:       time.Duration(c.ttl),
		Evidence:  c.evidence,
		Number:    c.number,
		Settings:  c.settings,
	}
}
