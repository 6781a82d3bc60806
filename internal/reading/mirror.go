package reading

import (
	"bytes"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/judge"
)

// said is what the CLI itself says on stderr: some repeat there what they print on
// stdout, or what they were asked. The caller holds mu.
func (r *Reading) said(ev *judge.Evidence) string {
	if ev.Output != clispec.OutputText {
		return without(ev.Stderr, func(line string) bool { return r.mirrors([]byte(line)) })
	}
	answer := map[string]bool{}
	for line := range strings.Lines(ev.Secrets.Clean(ev.Stdout)) {
		answer[strings.TrimSpace(line)] = true
	}
	own := r.Judge.Transcript.Own(ev.Stderr, ev.Secrets.Clean(r.Prompt))
	return without(own, func(line string) bool { return answer[strings.TrimSpace(line)] })
}

// saidByOthers reports whether a line of stderr, as it comes, repeats the prompt or
// the model.
func (r *Reading) saidByOthers(line []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.others = r.others || r.Output == clispec.OutputText && r.Judge.Transcript.Begins(string(line))
	return r.others || r.mirrors(line)
}

// without leaves out lines of a text.
func without(text string, drop func(line string) bool) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !drop(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// mirrors reports whether a line of stderr repeats an event of stdout that says
// nothing of a failure, or is the broken rest of one. The caller holds mu.
func (r *Reading) mirrors(line []byte) bool {
	if r.Output == clispec.OutputText || !judge.JSONStart().Match(line) {
		return false
	}
	items, ok := r.Program.Line(&r.mirror, line)
	if !ok {
		return len(bytes.TrimSpace(line)) > 1 // else it begins a document over lines
	}
	for i := range items {
		if tellsFailure(&items[i]) {
			return false
		}
	}
	return len(items) > 0
}

// tellsFailure reports whether an event says something of a failure.
func tellsFailure(e *decode.Item) bool {
	switch e.Kind {
	case call.EventError, call.EventRetry:
		return true
	}
	return e.Failed && e.Kind != call.EventToolResult
}
