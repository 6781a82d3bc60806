package reading

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/judge"
)

// interpreter is a spec as the interpreter of a CLI's output sees it.
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

// events are what one line of a stream means; ok is false when it is no JSON
// object.
func (e *interpreter) events(line string) (events []call.Event, ok bool) {
	root, ok := jsontext.ParseObject([]byte(line))
	if !ok {
		return nil, false
	}
	for _, item := range e.program.Events(new(decode.Scratch), root) {
		events = append(events, item.Event)
	}
	return events, true
}

// eventsIn are the events of a line, in reused memory.
func (e *interpreter) eventsIn(line []byte) []decode.Item {
	root, ok := jsontext.ParseObject(line)
	if !ok {
		return nil
	}
	return e.program.Events(&e.scratch, root)
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
