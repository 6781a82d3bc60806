package main

import (
	"regexp"

	"github.com/clichain/clichain/internal/pattern"
)

// causes are the things that skipped tests lacked, with patterns of their messages. The first pattern that matches
// counts.
var causes = []struct {
	cause   string
	pattern func() *regexp.Regexp
}{
	{"the long form or a flag", pattern.Of(`\bwith -\w|only with|-(measure|record|sample)\b|reads a gigabyte`)},
	{"the race detector's absence", pattern.Of(`race detector`)},
	{"git", pattern.Of(`\bgit\b.* (is not installed|checkout)|^git `)},
	{"real CLIs", pattern.Of(`: run "|: run %q`)},
	{"a feature of the CLI", pattern.Of(`live mode resumes no|no cumulative amounts|` +
		`other tests cover this version`)},
	{"a network namespace", pattern.Of(`no isolated network`)},
	{"a container engine", pattern.Of(`container engine|no container can run|^no image`)},
	{"Landlock", pattern.Of(`cannot confine|[Ll]andlock`)},
	{"another system", pattern.Of(`Windows|\bwine\b|on Linux only|containers run Linux|keychain|this system|` +
		`other systems|/proc\b|modes and symbolic links|such rights|the check is a script|is a shell script|keeps its name|` +
		`accepts any bytes`)},
	{"root", pattern.Of(`needs root|only root|no mount|cannot mount|cannot be mounted|no namespace|create namespaces|` +
		`no separate (file system|mounts)|immutable|set-uid|control group|no freezer|only this user may write|PIDs`)},
	{"another user than root", pattern.Of(`root may|superuser|restrict this user`)},
	{"a program", pattern.Of(`not installed|no program|needs? (flock|bash|a shell)|no shell`)},
	{"a link", pattern.Of(`\blinks?\b`)},
	{"a network address", pattern.Of(`no other address`)},
}

// causeOf returns the cause of a skip, or an empty text if the message names no known one.
func causeOf(message string) string {
	for _, c := range causes {
		if c.pattern().MatchString(message) {
			return c.cause
		}
	}
	return ""
}
