package jetstream_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/clichain/clichain/internal/history"
	"github.com/stretchr/testify/require"
)

// jobState is the state of one job in the specification of the queue.
type jobState struct {
	submitted bool
	result    string
}

// oneResult is the specification: a job is submitted once, and has one result that never changes.
var oneResult = porcupine.Model{
	Init: func() any { return jobState{} },
	Step: func(state, input, output any) (bool, any) {
		return stepJob(state.(jobState), input.(queueOperation), output.(*queueOutcome))
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

// stepJob returns the state after an operation, and whether the operation can have this outcome in this state. An
// operation without an outcome takes effect if it can.
func stepJob(s jobState, in queueOperation, out *queueOutcome) (bool, jobState) {
	if out == nil {
		out = &queueOutcome{Kind: "done"}
		if in.Kind == "submit" && s.submitted || in.Kind == "write" && (s.result != "" || !s.submitted) || in.Kind == "read" {
			return true, s
		}
	}
	switch in.Kind + " " + out.Kind {
	case "submit done":
		// A Submit that began before the result may add the job once more. The worker that takes it drops it.
		return !s.submitted || s.result != "", jobState{submitted: true, result: s.result}
	case "submit exists":
		return s.submitted, s
	case "write done":
		return s.submitted && s.result == "", jobState{submitted: true, result: in.Value}
	case "write exists":
		return s.result != "", s
	case "read done":
		return s.result != "" && s.result == out.Value, s
	case "read pending":
		return s.submitted && s.result == "", s
	case "read missing":
		return !s.submitted, s
	}
	return false, s
}

// violations returns the jobs whose operations no order explains.
func violations(operations queueHistory) (ids []string) {
	jobs := map[string][]porcupine.Operation{}
	for _, o := range operations {
		jobs[o.Input.ID] = append(jobs[o.Input.ID], porcupine.Operation{
			ClientId: o.Process, Input: o.Input, Output: o.Output, Call: o.Begin, Return: o.End,
		})
	}
	for id, history := range jobs {
		if !porcupine.CheckOperations(oneResult, history) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func requireLinearizable(t *testing.T, operations queueHistory) {
	t.Helper()
	for _, id := range violations(operations) {
		text := ""
		for _, o := range operations {
			if o.Input.ID == id {
				text += fmt.Sprintf("\n%d to %d, process %d: %s %q: %+v", o.Begin, o.End, o.Process, o.Input.Kind, o.Input.Value, o.Output)
			}
		}
		t.Errorf("no order explains the operations on job %s:%s", id, text)
	}
}

// secondResult returns a later read of the first job that returns another result.
func secondResult(operations queueHistory) history.Operation[queueOperation, queueOutcome] {
	return history.Operation[queueOperation, queueOutcome]{
		Input:  queueOperation{Kind: "read", ID: operations[0].Input.ID},
		Output: &queueOutcome{Kind: "done", Value: "another answer"}, Begin: math.MaxInt64 - 2, End: math.MaxInt64 - 1,
	}
}

// The specification accepts what a queue may do, and rejects each planted violation.
func TestOneResultSpecification(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		steps []string // operation and outcome, each after the end of the one before; an empty outcome: no end
		ok    bool
	}{
		{"one result", []string{"read ", "missing", "submit ", "done", "read ", "pending", "write a", "done", "read ", "done a"}, true},
		{"submitted twice", []string{"submit ", "done", "submit ", "exists", "write a", "done", "submit ", "exists"}, true},
		{"killed before the write", []string{"submit ", "done", "write a", "", "write b", "done", "read ", "done b"}, true},
		{"killed after the write", []string{"submit ", "done", "write a", "", "write b", "exists", "read ", "done a"}, true},
		{"two results", []string{"submit ", "done", "write a", "done", "write b", "done"}, false},
		{"another result is read", []string{"submit ", "done", "write a", "done", "read ", "done a", "read ", "done b"}, false},
		{"the later result replaces the first", []string{"submit ", "done", "write a", "", "write b", "done", "read ", "done a"}, false},
		{"a result that nobody wrote", []string{"submit ", "done", "read ", "done a"}, false},
		{"a lost result", []string{"submit ", "done", "write a", "done", "read ", "missing"}, false},
		{"a result is forgotten", []string{"submit ", "done", "write a", "done", "read ", "pending"}, false},
		{"a job is added twice", []string{"submit ", "done", "submit ", "done"}, false},
		{"a result is rejected without another", []string{"submit ", "done", "write a", "exists", "read ", "pending"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.ok, len(violations(planted(test.steps))) == 0)
		})
	}
}

func planted(steps []string) (operations queueHistory) {
	for i := 0; i < len(steps); i += 2 {
		o := history.Operation[queueOperation, queueOutcome]{Begin: int64(i), End: math.MaxInt64}
		_, _ = fmt.Sscan(steps[i], &o.Input.Kind, &o.Input.Value)
		if steps[i+1] != "" {
			o.Output, o.End = new(queueOutcome), int64(i+1)
			_, _ = fmt.Sscan(steps[i+1], &o.Output.Kind, &o.Output.Value)
		}
		operations = append(operations, o)
	}
	return operations
}
