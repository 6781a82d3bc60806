package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/clichain/clichain/jetstream"
)

// abilities is what a worker announces: its state, its versions, and what it offers to jobs.
func abilities(state string, w *jetstream.WorkerStatus) string {
	parts := []string{}
	if state != "" {
		parts = append(parts, state)
	}
	parts = append(parts, fmt.Sprintf("protocol %d", cmp.Or(w.Protocol, 1)))
	for _, text := range []string{w.Version, strings.Join(w.Backends, " ")} {
		if text != "" {
			parts = append(parts, oneLine(text))
		}
	}
	if w.Access > 0 {
		parts = append(parts, "access "+w.Access.String())
	}
	return strings.Join(parts, ", ")
}

// unmet lists the jobs that no worker can take.
func (t *statusWriter) unmet(list []jetstream.Unmet) {
	if len(list) == 0 {
		return
	}
	t.title("No worker takes")
	for _, u := range list {
		jobs := "1 job"
		if u.Jobs != 1 {
			jobs = fmt.Sprintf("%d jobs", u.Jobs)
		}
		text := fmt.Sprintf("%s, the first for %s: needs %s: %s", jobs, roughly(t.now.Sub(u.Since)), u.Needs, u.Why)
		mark := t.style.red("✗")
		for _, line := range wrap(oneLine(text), t.width-4) {
			t.line("  " + mark + " " + line)
			mark = " "
		}
	}
}
