package dialect

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
)

// Complaint is a line with which a CLI reports a failure.
type Complaint struct {
	Rule int // index in Spec.Events of the rule that reads it
	Line string
}

// Complaints returns a line for each failure rule, with the message in the field that the rule reads. It omits rules
// that read no message.
func (d *Dialect) Complaints(message string) (all []Complaint) {
	says := func(e *decode.Item) bool { return cmp.Or(e.Message, e.Text) == message }
	return d.complaints(says,
		map[string]any{"message": message, "failed": true}, map[string]any{"text": message, "failed": true})
}

// Statuses returns a line with an HTTP status for each rule that reads one.
func (d *Dialect) Statuses(status int) (all []Complaint) {
	says := func(e *decode.Item) bool { return e.Status == status }
	return d.complaints(says, map[string]any{"status": status, "failed": true})
}

// complaints returns a line for each failure rule, with the first of the values that has the intended effect.
func (d *Dialect) complaints(says func(*decode.Item) bool, values ...map[string]any) (all []Complaint) {
	for i, rule := range d.spec.Events {
		reports := func(e *decode.Item) bool {
			return e.Kind == rule.Kind && (e.Failed || e.Kind == call.EventError) && says(e)
		}
		for _, v := range values {
			if line, ok := write(rule, v); ok && Reports(rule) && d.reads(line, reports) {
				all = append(all, Complaint{i, line})
				break
			}
		}
	}
	return all
}

// Reports reports whether the event of a rule can report a failure.
func Reports(rule clispec.EventRule) bool {
	failed := rule.Set["failed"] != ""
	return rule.Kind == call.EventError || failed && (rule.Kind == call.EventResult || rule.Kind == call.EventLimit)
}

// Failure returns a run that fails for a reason with the message, whose text implies the reason. It uses an event of
// the CLI if possible, otherwise stderr.
func (d *Dialect) Failure(reason call.Reason, message string) (Script, error) {
	is := func(err *call.Error) bool { return err.Reason == reason }
	return d.first(is, append(d.complain(message), Script{Stderr: message + "\n", Exit: 1}), string(reason))
}

// Complain returns a run that fails with the message, for any reason. It uses the first event of the CLI that can
// contain the message, otherwise stderr.
func (d *Dialect) Complain(message string) Script {
	return append(d.complain(message), Script{Stderr: message + "\n", Exit: 1})[0]
}

// Limit returns a run at the limit of a plan, which ends at the time, to the minute.
func (d *Dialect) Limit(end time.Time) (Script, error) {
	message := "You have reached your usage limit. You will regain access on " +
		end.UTC().Format("2006-01-02 at 15:04 UTC.")
	said := append(d.complain(message), Script{Stderr: message + "\n", Exit: 1})
	var all []Script
	for _, limit := range d.limits(end) {
		for _, s := range said {
			s.Lines = append([]string{limit.Line}, s.Lines...)
			all = append(all, s)
		}
	}
	is := func(err *call.Error) bool { return limited(err, end) }
	return d.first(is, append(all, said...), "usage_limit until "+end.String())
}

// Limited reports whether a run with this output is at a limit that ends at the time, to the minute.
func (d *Dialect) Limited(s Script, end time.Time) bool {
	out := d.Judge(s)
	return out.Failure != nil && limited(out.Failure, end)
}

func limited(err *call.Error, end time.Time) bool {
	return err.Reason == call.ReasonUsageLimit && err.RetryAfter.Sub(end).Abs() < time.Minute
}

// limits returns the lines of an exceeded limit with an end time.
func (d *Dialect) limits(end time.Time) []Complaint {
	if d.Output == clispec.OutputText {
		return nil
	}
	ends := func(e *decode.Item) bool {
		return e.Kind == call.EventLimit && e.RetryAfter.Equal(end.Truncate(time.Second))
	}
	return d.complaints(ends, map[string]any{"reset_at": end.Unix(), "failed": true})
}

// complain returns failed runs with the message in an event, those that end with the event first.
func (d *Dialect) complain(message string) (all []Script) {
	if d.Output == clispec.OutputText {
		return nil
	}
	complaints := d.Complaints(message)
	slices.SortStableFunc(complaints, func(a, b Complaint) int {
		return cmp.Compare(d.rank(a), d.rank(b))
	})
	for _, c := range complaints {
		lines := append(d.session(), c.Line)
		if d.Output == clispec.OutputJSON {
			lines = []string{c.Line}
		}
		all = append(all, Script{Lines: lines, Exit: 1})
	}
	return all
}

func (d *Dialect) rank(c Complaint) int {
	if d.spec.Events[c.Rule].Terminal {
		return 0
	}
	return 1
}

// first returns the first script that fails in the intended way.
func (d *Dialect) first(is func(*call.Error) bool, scripts []Script, what string) (Script, error) {
	for _, s := range scripts {
		if out := d.Judge(s); out.Failure != nil && is(out.Failure) {
			return s, nil
		}
	}
	return Script{}, fmt.Errorf("no output is classified as %s in mode %s, not even a text on stderr "+
		"that every CLI could print: an earlier rule of the spec matches it", what, d.Output)
}
