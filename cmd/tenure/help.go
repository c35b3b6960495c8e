package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// help prints the overview, or the help of a verb.
func (c *call) help(args []string) error {
	if len(args) == 0 {
		return c.out.text(overview())
	}
	v, ok := lookupVerb(args[0])
	if !ok {
		return noVerb(args[0])
	}
	c.flags = newFlags(v.name)
	v.prepare(c)
	c.format()
	return c.out.text(c.helpText(v))
}

func overview() string {
	var text strings.Builder
	text.WriteString("tenure: a key has at most one owner at a time\n\nusage: tenure VERB [arguments]\n\n")
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, v := range verbs() {
		fmt.Fprintf(w, "  %s\t%s\n", v.name, v.summary)
	}
	_ = w.Flush() // a strings.Builder takes everything
	text.WriteString(`
'tenure help VERB' says more. To begin: 'tenure dev' starts a cluster on this
machine and says what to try.

exit codes: 0 done, 1 failed, 2 wrong usage, 3 held, 4 lost, 5 unavailable
`)
	return text.String()
}

// helpText returns the help of a verb whose flags have been declared.
func (c *call) helpText(v verb) string {
	var text strings.Builder
	fmt.Fprintf(&text, "usage: %s\n\n%s\n\n%s", c.synopsis(), v.summary, strings.TrimLeft(v.help, "\n"))
	text.WriteString("\nflags, which may stand anywhere before '--':\n")
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range c.rows {
		fmt.Fprintf(w, "  %s\t%s\n", strings.TrimSpace(dashed(row.name)+" "+row.value), row.usage)
	}
	_ = w.Flush() // a strings.Builder takes everything
	return text.String()
}

// synopsis returns the verb's operands and required flags.
func (f *flags) synopsis() string {
	words := []string{"tenure", f.verb}
	for _, o := range f.operands {
		if o.optional {
			words = append(words, "["+o.name+"]")
		} else {
			words = append(words, o.name)
		}
	}
	for _, row := range f.rows {
		if row.required {
			words = append(words, dashed(row.name), row.value)
		}
	}
	words = append(words, "[flags]")
	if f.tail != nil {
		words = append(words, "--", f.tailName)
	}
	return strings.Join(words, " ")
}
