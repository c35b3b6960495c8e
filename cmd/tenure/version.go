package main

import (
	"context"
	"runtime"
	"runtime/debug"

	"example.com/tenure/node"
)

var versionVerb = verb{
	name:    "version",
	summary: "show the program's version",
	help: `
'tenure status' shows that of a node.
`,
	prepare: prepareVersion,
}

// A build is what this program was built from.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the sources; with a plus if they were changed
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func prepareVersion(c *call) action {
	return func(context.Context) error {
		b := build{Version: node.Version, Revision: revision(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
		return c.did(b, "tenure %s %s %s %s", b.Version, orDash(b.Revision), b.Go, b.Platform)
	}
}

func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	return revision + changed
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
