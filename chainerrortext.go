package clichain

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clichain/clichain/internal/plaintext"
)

// errorLine is what the text of a ChainError says of one attempt.
type errorLine struct{ backend, reason, detail string }

// errorLines has a line for each attempt, and for each one inside a nested
// chain.
func errorLines(attempts []Attempt, within string) (lines []errorLine) {
	for _, a := range attempts {
		name := within + a.Backend
		if inner, ok := a.Err.(*ChainError); ok && len(inner.Attempts) > 0 {
			lines = append(lines, errorLines(inner.Attempts, name+"/")...)
			continue
		}
		line := errorLine{backend: name, reason: string(a.Reason)}
		if be, ok := errors.AsType[*BackendError](a.Err); ok {
			line.reason, line.detail = be.Class(), strings.TrimLeft(be.Detail()+be.Advice(), " ")
		} else if a.Err != nil {
			line.detail = plaintext.OneLine(a.Err.Error())
		}
		lines = append(lines, line)
	}
	return lines
}

// Error is a summary line, then one line for each backend: its name, the
// reason, what was said, and what to do.
func (e *ChainError) Error() string {
	var b strings.Builder
	switch {
	case e.Cause != nil:
		fmt.Fprintf(&b, "clichain: %v", e.Cause)
	case len(e.Attempts) == 0:
		b.WriteString("clichain: no backends to try")
	default:
		fmt.Fprintf(&b, "clichain: no backend answered (%d tried, %d skipped)", e.tried(), len(e.Attempts)-e.tried())
	}
	if e.Note != "" {
		b.WriteString(": " + e.Note)
	}
	lines := errorLines(e.Attempts, "")
	names, reasons := 0, 0
	for _, line := range lines {
		names, reasons = max(names, len(line.backend)), max(reasons, len(line.reason))
	}
	for _, line := range lines {
		b.WriteString("\n  " + strings.TrimRight(fmt.Sprintf("%-*s  %-*s  %s", names, line.backend, reasons, line.reason, line.detail), " "))
	}
	return b.String()
}
