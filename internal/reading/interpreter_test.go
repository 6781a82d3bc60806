package reading

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/judge"
)

// interpreter is a compiled spec, for tests that read a CLI's output.
type interpreter struct {
	program *decode.Program
	judge   *judge.Judge
	scratch decode.Scratch
}

func newInterpreter(spec clispec.Spec) *interpreter {
	return &interpreter{program: decode.Compile(spec.Events), judge: judge.New(&spec)}
}

func interpreterOf(t testing.TB, spec clispec.Spec) *interpreter {
	t.Helper()
	require.NoError(t, spec.Validate())
	return newInterpreter(spec)
}

// events returns the events of one line of a stream; ok is false if the line is not a JSON object.
func (e *interpreter) events(line string) (events []call.Event, ok bool) {
	items, ok := e.program.Line(new(decode.Scratch), []byte(line))
	for _, item := range items {
		events = append(events, item.Event)
	}
	return events, ok
}

// eventsIn returns the events of a line, in reused memory.
func (e *interpreter) eventsIn(line []byte) []decode.Item {
	items, _ := e.program.Line(&e.scratch, line)
	return items
}

// judgeText classifies an error text.
func (e *interpreter) judgeText(on clispec.Evidence, text string, now time.Time) (judge.Finding, bool) {
	return e.judge.JudgeText(on, text, now)
}

// judgeEvent classifies an error event.
func (e *interpreter) judgeEvent(event call.Event, now time.Time) (judge.Finding, bool) {
	s := judge.SignOf(event)
	return e.judge.JudgeEvent(&s, now)
}
