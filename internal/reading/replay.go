package reading

import (
	"io"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
)

// Recording is a recorded run that has ended.
type Recording struct {
	Output         clispec.OutputMode
	Stdout, Stderr string
	Prompt         string
	ExitCode       int
	Signal         string // the signal that ended the run
	TimedOut       bool
	Now            time.Time
}

// Outcome is the outcome of a recorded run.
type Outcome struct {
	Text     string // of the answer; "" if there is none
	Response call.Response
	Flags    []call.Flag
	Failure  *call.Error
	Events   []call.Event // the events that a stream reader would have received
}

// Replayer judges recorded runs of one spec. It is immutable, so it is safe for concurrent use.
type Replayer struct {
	spec    *clispec.Spec
	program *decode.Program
	judge   *judge.Judge
}

// NewReplayer returns the Replayer of a spec that passed Validate.
func NewReplayer(spec *clispec.Spec) *Replayer {
	return &Replayer{spec, decode.Compile(spec.Events), judge.New(spec)}
}

// Replay judges a recorded run like a live run.
func (p *Replayer) Replay(rec Recording) (out Outcome) {
	r := &Reading{
		Name: p.spec.Name, Program: p.program, Judge: p.judge, Output: rec.Output, Answer: p.spec.Answer, Prompt: rec.Prompt,
		Secrets: plaintext.NewRedactor(nil), Tools: p.spec.ToolEventsIn(rec.Output),
		Emit: func(e call.Event) { out.Events = append(out.Events, e) },
		Stop: func(error) {}, Ended: func() bool { return rec.TimedOut },
		Now: func() time.Time { return rec.Now },
	}
	stdout, stderr := r.Streams()
	feed(stderr, rec.Stderr)
	feed(stdout, rec.Stdout)
	result := proc.Result{ExitCode: rec.ExitCode, Signal: rec.Signal, TreeClean: true}
	result.Stderr.Head = []byte(rec.Stderr)
	result.Stderr.Total = int64(len(rec.Stderr))
	if rec.TimedOut {
		result.ExitCode, result.Cause = -1, &judge.Stop{Reason: call.ReasonTimeout, After: 25 * time.Second}
	}
	v := p.judge.Verdict(r.Evidence(result, 0))
	out.Text, out.Flags, out.Failure = v.Text, r.tally.Flags, v.Err
	out.Response = call.Response{
		Session: r.tally.Session, Model: r.tally.Model, KeySource: r.tally.KeySource,
		Usage: r.tally.Total(), Quota: r.tally.Quota, Warnings: r.tally.Warnings,
	}
	return out
}

// feed writes a whole stream. A splitter never fails.
func feed(w io.WriteCloser, text string) {
	_, _ = io.WriteString(w, text)
	_ = w.Close()
}
