package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/clichain/clichain/doctor"
)

var (
	// quoted is a command in a hint.
	quoted = regexp.MustCompile("`([^`]+)`")
	// bare is a hint that is a command as a whole.
	bare = regexp.MustCompile(`^(npm|unset|export|brew|curl) \S`)
)

// fixesOf is a script with the commands that mend what keeps backends from
// answering. What is no command is a comment, so is what it is about.
func fixesOf(report doctor.Report) string {
	var b strings.Builder
	for _, d := range report.Backends {
		for _, p := range d.Problems {
			if !p.Blocks() {
				continue
			}
			fmt.Fprintf(&b, "# %s: %s\n", oneLine(d.Name), oneLine(p.Message))
			for _, line := range commandsOf(oneLine(p.Hint)) {
				fmt.Fprintln(&b, line)
			}
		}
	}
	return b.String()
}

// commandsOf takes the commands out of a hint.
func commandsOf(hint string) (lines []string) {
	if bare.MatchString(hint) {
		return []string{hint}
	}
	for _, m := range quoted.FindAllStringSubmatch(hint, -1) {
		lines = append(lines, m[1])
	}
	if hint != "" && (len(lines) == 0 || quoted.ReplaceAllString(hint, "") != "run ") {
		lines = append(lines, "# "+hint)
	}
	return lines
}
