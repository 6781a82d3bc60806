package clichain_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

// interpreter is a spec as the interpreter of a CLI's output sees it.
type interpreter struct {
	program *clichain.Program
	judge   *clichain.Judge
	scratch clichain.Scratch
}

func newInterpreter(spec clichain.CliSpec) *interpreter {
	return &interpreter{program: clichain.CompileProgram(spec.Events), judge: clichain.NewJudge(&spec)}
}

func interpreterOf(t testing.TB, spec clichain.CliSpec) *interpreter {
	t.Helper()
	require.NoError(t, spec.Validate())
	return newInterpreter(spec)
}

// events are what one line of a stream means; ok is false when it is no JSON
// object.
func (e *interpreter) events(line string) (events []clichain.Event, ok bool) {
	root, ok := clichain.ParseObject([]byte(line))
	if !ok {
		return nil, false
	}
	for _, item := range e.program.Events(new(clichain.Scratch), root) {
		events = append(events, item.Event)
	}
	return events, true
}

// eventsIn are the events of a line, in reused memory.
func (e *interpreter) eventsIn(line []byte) []clichain.Item {
	root, ok := clichain.ParseObject(line)
	if !ok {
		return nil
	}
	return e.program.Events(&e.scratch, root)
}

// judgeText classifies an error text.
func (e *interpreter) judgeText(on clichain.Evidence, text string, now time.Time) (clichain.Finding, bool) {
	return e.judge.JudgeText(on, text, now)
}

// judgeEvent classifies an error event.
func (e *interpreter) judgeEvent(event clichain.Event, now time.Time) (clichain.Finding, bool) {
	s := clichain.SignOf(event)
	return e.judge.JudgeEvent(&s, now)
}
