package reading

import (
	"time"

	"github.com/tidwall/gjson"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
)

// Lookup is the value at a path of a JSON object.
func Lookup(json, path string) gjson.Result {
	var o jsontext.Object
	o.Open(gjson.Parse(json))
	p := jsontext.ParsePath(path)
	return o.Get(&p)
}

// MatchesText reports whether an anchored pattern of a rule matches a text.
func MatchesText(pattern, text string) bool { return plaintext.Matcher(pattern)(text) }

// PlainText leaves out what colours a text on a terminal.
func PlainText(text string) string { return plaintext.Escapes.ReplaceAllString(text, "") }

// DocumentObjects are the objects of the JSON document in a text.
func DocumentObjects(text string) (raw []string) {
	for _, object := range jsontext.Objects([]byte(text)) {
		raw = append(raw, object.Get("@this|@ugly").Raw)
	}
	return raw
}

// Recording is a run that is over.
type Recording struct {
	Output         clispec.OutputMode
	Stdout, Stderr string
	Prompt         string
	ExitCode       int
	Signal         string // that ended it
	TimedOut       bool
	Now            time.Time
}

// Replay judges a recorded run the way a live one is judged, and returns the
// events a reader of its stream would have seen.
func Replay(spec clispec.Spec, rec Recording) (string, call.Response, *call.Error, []call.Event) {
	if err := spec.Validate(); err != nil {
		panic(err)
	}
	var events []call.Event
	r := &Reading{
		Name: spec.Name, Program: decode.Compile(spec.Events), Judge: judge.New(&spec), Output: rec.Output, Answer: spec.Answer, Prompt: rec.Prompt,
		Secrets: plaintext.NewRedactor(nil), Tools: spec.ToolEventsIn(rec.Output),
		Emit: func(e call.Event) { events = append(events, e) }, Stop: func(error) {}, Ended: func() bool { return rec.TimedOut },
		Now: func() time.Time { return rec.Now },
	}
	stdout, stderr := r.Streams()
	feed := func(w interface {
		Write([]byte) (int, error)
		Close() error
	}, text string) {
		_, _ = w.Write([]byte(text))
		_ = w.Close()
	}
	feed(stderr, rec.Stderr)
	feed(stdout, rec.Stdout)
	result := proc.Result{ExitCode: rec.ExitCode, Signal: rec.Signal, TreeClean: true}
	result.Stderr.Head = []byte(rec.Stderr)
	result.Stderr.Total = int64(len(rec.Stderr))
	if rec.TimedOut {
		result.ExitCode, result.Cause = -1, &judge.Stop{Reason: call.ReasonTimeout, After: 25 * time.Second}
	}
	ev := r.Evidence(result, 0)
	v := r.Judge.Verdict(ev)
	resp := call.Response{Session: r.tally.Session, Model: r.tally.Model, KeySource: r.tally.KeySource, Usage: r.tally.Total(), Warnings: r.tally.Warnings}
	return v.Text, resp, v.Err, events
}
