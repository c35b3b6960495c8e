package wire

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// A Code says why a connection was refused.
type Code byte

// The codes. Later versions may send others.
const (
	CodeOK               Code = iota // not refused
	CodeVersion                      // the two ends have no protocol version in common, or one doesn't know the other's entries
	CodeOtherCluster                 // the ends belong to different clusters
	CodeOtherNode                    // the dialler expected another node here, or both ends are the same
	CodeOtherIncarnation             // the node has another data folder than the one that is meant
	CodeNotMember                    // the node has no cluster yet, or the peer is no member of it
	CodeRemoved                      // the peer was removed from the cluster
	CodeBusy                         // too many connections
	CodePurpose                      // the connection is for something that is unknown here
)

var codeNames = [...]string{
	"ok", "version", "other cluster", "other node", "other incarnation", "not a member", "removed", "busy", "purpose",
}

// String returns the code's name.
func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("code %d", byte(c))
}

// Refused says that the two ends of a connection don't belong together.
type Refused struct {
	Code    Code
	Message string // what differs and what to do
	Peer    Hello  // the other end's
	ByPeer  bool   // the other end refused, and not this one
}

// Error says who refused whom, and why.
func (e *Refused) Error() string {
	who := e.Peer.NodeID
	if who == "" {
		who = "a client"
	}
	if e.ByPeer {
		return fmt.Sprintf("refused by %s (%s): %s", printable(who), e.Code, printable(e.Message))
	}
	return fmt.Sprintf("%s refused (%s): %s", printable(who), e.Code, printable(e.Message))
}

// printable returns text from the other end as it can go into a log line.
func printable(text string) string {
	for _, r := range text {
		if unicode.IsControl(r) {
			return fmt.Sprintf("%q", text)
		}
	}
	return text
}

// shorten cuts text to so many bytes, at the end of a character, and makes
// UTF-8 of what isn't.
func shorten(text string, most int) string {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
