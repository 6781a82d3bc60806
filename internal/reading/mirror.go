package reading

import (
	"bytes"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/judge"
)

// said returns the CLI's own text on stderr. Some CLIs repeat their stdout or the prompt there. The caller
// holds mu.
func (r *Reading) said(ev *judge.Evidence) string {
	if ev.Output != clispec.OutputText {
		var b strings.Builder
		for line := range strings.Lines(ev.Stderr) {
			if !r.mirrors([]byte(line)) {
				own, _ := r.ownWords([]byte(line), false)
				b.Write(own)
			}
		}
		return b.String()
	}
	answer := map[string]bool{}
	for line := range strings.Lines(ev.Secrets.Clean(ev.Stdout)) {
		answer[strings.TrimSpace(line)] = true
	}
	own := r.Judge.Transcript.Own(ev.Stderr, ev.Secrets.Clean(r.Prompt))
	return without(own, func(line string) bool { return answer[strings.TrimSpace(line)] })
}

// ownOnStderr returns the CLI's own text in a line of stderr as it arrives. ok is false if the line repeats the
// prompt or the model.
func (r *Reading) ownOnStderr(line []byte) (own []byte, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.others = r.others || r.Output == clispec.OutputText && r.Judge.Transcript.Begins(string(line))
	if r.others || r.mirrors(line) {
		return nil, false
	}
	if r.Output != clispec.OutputText {
		line, _ = r.ownWords(line, false)
	}
	return line, true
}

// without returns a text without the lines that drop selects.
func without(text string, drop func(line string) bool) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !drop(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// mirrors reports whether a line of stderr repeats an event of stdout that does not report a failure, or is a
// broken part of such an event. The caller holds mu.
func (r *Reading) mirrors(line []byte) bool {
	if r.Output == clispec.OutputText || !jsonStart().Match(line) {
		return false
	}
	if _, ok := r.Program.Line(&r.mirror, line); !ok {
		return len(bytes.TrimSpace(line)) > 1 // otherwise the line begins a multi-line document
	}
	known, fails := r.tells(line)
	return known && !fails
}

// tellsFailure reports whether an event reports a failure.
func tellsFailure(e *decode.Item) bool {
	switch e.Kind {
	case call.EventError, call.EventRetry:
		return true
	}
	return e.Failed && e.Kind != call.EventToolResult
}
